import type { Section } from './rule.ts';
import { settingsRules } from './rules/a-settings.ts';

export const sections: readonly Section[] = [{ heading: 'A. Settings, permissions', rules: settingsRules }];
