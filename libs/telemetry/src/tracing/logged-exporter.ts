import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from '@sluice/runtime';

/** Logs when exports begin to fail and when they succeed again. */
export class LoggedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #logger: Logger;
  #failing = false;

  constructor(exporter: SpanExporter, logger: Logger) {
    this.#exporter = exporter;
    this.#logger = logger;
  }

  export(spans: ReadableSpan[], callback: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      this.#observe(result);
      callback(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  #observe({ code, error }: ExportResult): void {
    const failing = code !== ExportResultCode.SUCCESS;
    if (failing === this.#failing) return;
    this.#failing = failing;
    if (failing) this.#logger.warn('trace export failed; dropping spans', { reason: error?.message ?? 'unknown' });
    else this.#logger.info('trace export succeeds again');
  }
}
