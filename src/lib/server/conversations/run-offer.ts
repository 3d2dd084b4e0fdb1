/** Why a run offered what it did, and what came of it: read from the run's own events (FEATURES F2). */
import type { RunOffer } from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import type { RunEvent, SkillOffer } from '../../shared/events.ts';
import { skillOffer } from '../../shared/message-schema.ts';
import { BUILT_IN_MODEL } from '../../shared/names.ts';
import type { Runner } from '../runs/runner.ts';

/** As far as the run has come. @throws AppError not_found */
export async function readRunOffer(
	runner: Pick<Runner, 'get' | 'live' | 'follow'>,
	runId: string,
	signal: AbortSignal
): Promise<RunOffer> {
	const run = await runner.get(runId);
	if (!run) throw new AppError('not_found', 'There is no such run.');
	const live = runner.live(runId);
	const batches = (await runner.follow(runId, 0, signal)) ?? [];
	const read = createReader();
	for await (const batch of batches) {
		for (const { data } of batch) {
			// Nearly all events are pieces of text.
			if (data.includes('"skill.')) read.add(JSON.parse(data) as RunEvent);
		}
		const last = batch.at(-1)?.seq ?? 0;
		// One that goes on is followed no further than it had come, but as far as what it offers.
		if (live && last >= Math.max(live.seq, OFFERED_BY)) break;
	}
	return { isBuiltIn: run.model === BUILT_IN_MODEL, ...read.result(live !== null) };
}

/** By this event a run has said what it offers. */
const OFFERED_BY = 2;

function createReader() {
	let offer: SkillOffer | null = null;
	const loaded = new Set<string>();
	const ran: RunOffer['ran'] = [];
	/** Those that run, by the id of the call. */
	const open = new Map<string, RunOffer['ran'][number]>();
	return {
		add(event: RunEvent): void {
			if (event.type !== 'CUSTOM') return;
			switch (event.name) {
				case 'skill.catalog':
					// Runs of older versions kept names and descriptions alone.
					offer = skillOffer.safeParse(event.value).data ?? null;
					return;
				case 'skill.loaded':
					loaded.add(event.value.skill);
					return;
				case 'skill.started': {
					const { toolCallId, skill, script, tool } = event.value;
					const run: RunOffer['ran'][number] = { skill, script: tool ?? script, status: 'running' };
					ran.push(run);
					open.set(toolCallId, run);
					return;
				}
				case 'skill.finished': {
					const { toolCallId, exitCode, error } = event.value;
					const run = open.get(toolCallId);
					if (run) run.status = exitCode === 0 && error === undefined ? 'success' : 'error';
					return;
				}
				default:
			}
		},
		result: (isRunning: boolean) => ({
			offer,
			loaded: [...loaded],
			// What a run that is over has not finished was stopped with it.
			ran: ran.map((each) => (each.status === 'running' && !isRunning ? { ...each, status: 'error' as const } : each))
		})
	};
}
