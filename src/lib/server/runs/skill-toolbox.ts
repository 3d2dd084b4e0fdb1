/** The skills of a conversation, and the caller's own tools, as the loop's toolbox. */
import type { FunctionTool } from '../agent/model.ts';
import type { Toolbox } from '../agent/tool.ts';
import type { SkillSession } from '../skills/session.ts';
import type { SkillEvent } from '../skills/types.ts';
import type { ApprovalPolicy } from './approval-policy.ts';
import type { CustomRunEvent } from '../../shared/events.ts';

export interface SkillToolboxOptions {
	session: SkillSession;
	callerTools: readonly FunctionTool[];
	/** Where scripts run. */
	cwd: string;
	approvals: Pick<ApprovalPolicy, 'request'>;
}

/** A caller's tool of the same name as one of ours stands before it (FEATURES B13). */
export function createSkillToolbox({ session, callerTools, cwd, approvals }: SkillToolboxOptions): Toolbox {
	const callerNames = new Set(callerTools.map((tool) => tool.name));
	return {
		definitions: () => [...session.tools().filter((tool) => !callerNames.has(tool.name)), ...callerTools],
		kind: (name) => (callerNames.has(name) ? 'caller' : session.has(name) ? 'own' : null),
		lane: (name, args) => session.lane(name, args),
		async approval(name, args, earlier) {
			const plan = callerNames.has(name) ? null : session.plan(name, args);
			return plan ? approvals.request(plan, earlier) : null;
		},
		async call(name, args, { toolCallId, signal, emit }) {
			const onEvent = (event: SkillEvent) => emit(toRunEvent(event, toolCallId));
			const { ok, output } = await session.call(name, args, { cwd, signal, onEvent });
			return { output, isError: !ok };
		}
	};
}

function toRunEvent(event: SkillEvent, toolCallId: string): CustomRunEvent {
	switch (event.type) {
		case 'loaded': {
			const { type: _type, ...value } = event;
			return { type: 'CUSTOM', name: 'skill.loaded', value: { toolCallId, ...value } };
		}
		case 'started': {
			const { type: _type, ...value } = event;
			return { type: 'CUSTOM', name: 'skill.started', value: { toolCallId, ...value } };
		}
		case 'output':
			return { type: 'CUSTOM', name: 'skill.output', value: { toolCallId, stream: event.stream, text: event.text } };
		case 'finished': {
			const { type: _type, ...value } = event;
			return { type: 'CUSTOM', name: 'skill.finished', value: { toolCallId, ...value } };
		}
	}
}
