/** Where skills come from, in words. Pure. */
import type { SkillProvider } from '../shared/skills.ts';
import { providerText as text } from '../strings/skills.ts';

export const PROVIDER_WORDS: Record<SkillProvider, string> = text;
