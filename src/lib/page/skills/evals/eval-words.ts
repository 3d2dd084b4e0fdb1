/** Words of evals: sides, states and the verdict. Pure. */
import { cleanText } from '../../text/clean-text.ts';
import { BUILT_IN_MODEL } from '../../../shared/names.ts';
import type { EvalRun, EvalSide } from '../../../shared/try-out.ts';

type Run = Pick<EvalRun, 'sides' | 'state' | 'kind'>;

/** With the model only where there are several. */
export function sideLabel({ kind, version, model }: EvalSide, { sides }: Pick<Run, 'sides'>): string {
	const words = {
		with: 'With the skill',
		version: `Version ${version ?? ''}`,
		without: 'Without it',
		library: 'Among all skills'
	};
	const hasSeveral = sides.some((side) => side.model !== model);
	return cleanText(hasSeveral ? `${words[kind]}, ${model}` : words[kind]);
}

/** Names of the models of a run. */
export function modelsOf({ sides }: Pick<Run, 'sides'>): string {
	const models = new Set(sides.map(({ model }) => (model === BUILT_IN_MODEL ? 'Demo mode' : model)));
	return cleanText([...models].join(', '));
}

export function percent(rate: number | null | undefined): string {
	return typeof rate === 'number' ? `${Math.round(rate * 100)} %` : '–';
}

/** `34–100 %`. */
export function interval({ figures: { passRate } }: Pick<EvalSide, 'figures'>): string {
	return passRate === null ? '' : `${Math.round(passRate.low * 100)}–${Math.round(passRate.high * 100)} %`;
}

/** The answer that one comes for, as sure as it is: intervals that overlap decide nothing. Null while there is none. */
export function verdictOf({ sides, state, kind }: Run): string | null {
	const [tested] = sides;
	const other = sides.find((side) => side.kind === 'without') ?? sides.find((side) => side.kind === 'version');
	const [mine, theirs] = [tested?.figures.passRate, other?.figures.passRate];
	if (state === 'running' || kind === 'triggers' || !mine || !theirs) return null;
	const isVersion = other?.kind === 'version';
	if (mine.value === theirs.value) {
		return isVersion ? 'Both versions do equally well' : 'The skill makes no difference';
	}
	const isBetter = mine.value > theirs.value;
	const isSure = isBetter ? mine.low > theirs.high : theirs.low > mine.high;
	if (isVersion) {
		const which = `${isBetter ? 'This version' : `Version ${other.version ?? ''}`}`;
		return cleanText(isSure ? `${which} is better` : `${which} seems better. More rounds will tell.`);
	}
	if (isSure) return isBetter ? 'The skill helps' : 'Answers are better without the skill';
	return `${isBetter ? 'The skill seems to help' : 'Answers seem better without the skill'}. More rounds will tell.`;
}

export const STATES: Record<EvalRun['state'], string> = {
	running: 'Running',
	done: 'Done',
	failed: 'Failed',
	cancelled: 'Cancelled',
	limit: 'Cost limit reached'
};
