import { projectNode } from '@sluice/model';
import type { ScenarioObject } from '../scenario.ts';

/**
 * Notices Nodes as upstream does: a change of allocatable CPU alone is not noticed (E3). A write that changes neither zone nor readiness
 * of a Node is held until a relevant change of any Node, or a relist.
 */
export class NoticedNodes {
  readonly #known = new Map<string, string>();
  readonly #held = new Map<string, ScenarioObject>();

  /** The Nodes to store when a Node is written. */
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

  /** The Nodes to store before a Node is deleted. */
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
