/** The built-in skills of one conversation: what is offered now, and what comes of a call. */
import { createHash, randomUUID } from 'node:crypto';
import { builtinNameOf } from '../../shared/names.ts';
import type { ApprovalRequest } from '../../shared/events.ts';
import type { Approval } from '../../shared/message.ts';
import type { ToolDefinition } from '../skills/types.ts';
import type { Builtin } from './builtin.ts';
import { type BuiltinCallContext, type BuiltinCalls, pickBuiltins, type OfferOptions } from './builtin-calls.ts';

export interface BuiltinSession {
	/** Tools to offer. */
	tools(): ToolDefinition[];
	/** Is it one of theirs, offered or not, by any name that models know it by? */
	has(name: string): boolean;
	lane(name: string): string | null;
	/** What to ask before it runs; null when it may. `earlier` counts for the very same arguments. */
	approval(name: string, args: Record<string, unknown>, earlier: Approval | null): ApprovalRequest | null;
	/** Never throws. */
	call(
		name: string,
		args: Record<string, unknown>,
		context: BuiltinCallContext
	): Promise<{ ok: boolean; output: string }>;
}

export interface BuiltinSessionOptions extends OfferOptions {
	/** `ask`: what reaches out of the workspace, or was written by a model, runs when somebody has allowed it. */
	approvals: 'ask' | 'auto';
	/** Only these are there, by any name that models know them by; all without it (D42). */
	only?: readonly string[] | undefined;
}

export function createBuiltinSession(
	calls: BuiltinCalls,
	{ approvals, only, ...offer }: BuiltinSessionOptions
): BuiltinSession {
	const names = only && new Set(only.map((name) => builtinNameOf(name) ?? name));
	const find = (name: string) => {
		const builtin = calls.find(name);
		return builtin && (names?.has(builtin.name) ?? true) ? builtin : null;
	};
	const used = new Set([...offer.used].map((name) => builtinNameOf(name) ?? name));
	return {
		tools: () =>
			pickBuiltins(
				calls.builtins.filter(({ name }) => find(name) !== null),
				{ ...offer, used }
			).map(({ name, description, parameters }) => {
				return { type: 'function', name, description, parameters };
			}),
		has: (name) => find(name) !== null,
		lane: (name) => find(name)?.lane ?? null,
		approval(name, args, earlier) {
			const builtin = find(name);
			if (approvals === 'auto' || !builtin?.asksFirst || builtin.unavailable() !== null) return null;
			const question = builtinQuestion(builtin, args);
			const isAllowed = earlier?.decision !== undefined && earlier.decision.choice !== 'deny';
			return isAllowed && earlier.digest === question.digest ? null : question;
		},
		async call(name, args, context) {
			const builtin = find(name);
			if (!builtin) return { ok: false, output: JSON.stringify({ ok: false, error: 'UnknownTool' }) };
			used.add(builtin.name);
			return calls.call(builtin, args, context);
		}
	};
}

/** Its digest is of the very arguments. */
export function builtinQuestion({ name }: Pick<Builtin, 'name'>, args: Record<string, unknown>): ApprovalRequest {
	const input = JSON.stringify(args);
	return {
		interruptId: randomUUID(),
		skill: name,
		script: name,
		args: [input],
		reason: `The built-in skill “${name}” wants to run.`,
		digest: createHash('sha256')
			.update(JSON.stringify([name, input]))
			.digest('hex')
	};
}
