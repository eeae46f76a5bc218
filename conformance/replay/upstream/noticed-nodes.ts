import { projectNode } from '@sluice/controllers';
import type { ScenarioObject } from '../scenario.ts';

/**
 * E3 as upstream has it: a change of allocatable CPU alone is not noticed. What is written of a Node whose zone and
 * readiness stay is held back until a Node changes in a way that counts, or everything is listed anew.
 */
export class NoticedNodes {
  readonly #known = new Map<string, string>();
  readonly #held = new Map<string, ScenarioObject>();

  /** What is to be written to the cluster now that a Node is written. */
  written(node: ScenarioObject): readonly ScenarioObject[] {
    const { name } = node.metadata;
    const { zone, ready } = projectNode(node);
    const state = `${zone} ${ready}`;
    const counts = this.#known.get(name) !== state;
    this.#known.set(name, state);
    this.#held.delete(name);
    if (counts) return [...this.takeHeld(), node];
    this.#held.set(name, node);
    return [];
  }

  /** What is to be written before a Node is deleted. */
  deleted(name: string): readonly ScenarioObject[] {
    this.#known.delete(name);
    this.#held.delete(name);
    return this.takeHeld();
  }

  takeHeld(): readonly ScenarioObject[] {
    const held = [...this.#held.values()];
    this.#held.clear();
    return held;
  }
}
