import type { Attributes, Context, Link, SpanKind } from '@opentelemetry/api';
import { type Sampler, SamplingDecision, type SamplingResult } from '@opentelemetry/sdk-trace';
import { lateAttributes } from '../traces/spans.ts';

/**
 * A root sampler that also samples traces recorded because of how they ended: failed, retried or slow. Their root span is
 * created at the end, with an attribute that says so; for other root spans the given sampler decides.
 */
export class LateSampler implements Sampler {
  readonly #root: Sampler;

  constructor(root: Sampler) {
    this.#root = root;
  }

  shouldSample(
    context: Context,
    traceId: string,
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    links: Link[],
  ): SamplingResult {
    if (isLate(attributes)) return { decision: SamplingDecision.RECORD_AND_SAMPLED };
    return this.#root.shouldSample(context, traceId, name, kind, attributes, links);
  }

  toString(): string {
    return `LateSampler{${this.#root}}`;
  }
}

const [[lateName, lateValue] = ['', '']] = Object.entries(lateAttributes);
const isLate = (attributes: Attributes): boolean => attributes[lateName] === lateValue;
