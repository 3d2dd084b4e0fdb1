/** The output of one process while it comes: counted, rid of secrets, capped, passed on (FEATURES D11, F3). */
import type { LaunchLimits, LaunchResult } from './launcher.ts';
import { createCappedOutput } from './output.ts';
import { createRedactor } from './redact.ts';

type Stream = 'stdout' | 'stderr';

export interface Collector {
	push(stream: Stream, chunk: Buffer): void;
	end(): Pick<
		LaunchResult,
		'stdout' | 'stderr' | 'stdoutTruncated' | 'stderrTruncated' | 'stdoutBytes' | 'stderrBytes' | 'kept'
	>;
}

export function createCollector(
	limits: Pick<LaunchLimits, 'maxOutputBytes' | 'maxKeptBytes' | 'redact'>,
	onOutput?: (stream: Stream, text: string) => void
): Collector {
	const streams = {
		stdout: createStream(limits, (text) => onOutput?.('stdout', text)),
		stderr: createStream(limits, (text) => onOutput?.('stderr', text))
	};
	return {
		push: (stream, chunk) => streams[stream].push(chunk),
		end() {
			const stdout = streams.stdout.end();
			const stderr = streams.stderr.end();
			return {
				stdout: stdout.text,
				stderr: stderr.text,
				stdoutTruncated: stdout.truncated,
				stderrTruncated: stderr.truncated,
				stdoutBytes: stdout.bytes,
				stderrBytes: stderr.bytes,
				...(stdout.kept && stderr.kept ? { kept: { stdout: stdout.kept, stderr: stderr.kept } } : {})
			};
		}
	};
}

function createStream(
	{ maxOutputBytes, maxKeptBytes, redact }: Pick<LaunchLimits, 'maxOutputBytes' | 'maxKeptBytes' | 'redact'>,
	onText: (text: string) => void
) {
	const shown = createCappedOutput(maxOutputBytes, onText);
	const kept = maxKeptBytes === undefined ? null : createCappedOutput(maxKeptBytes);
	const redactor = redact?.length ? createRedactor(redact) : null;
	let bytes = 0;
	const take = (chunk: Buffer) => {
		shown.push(chunk);
		kept?.push(chunk);
	};
	return {
		push(chunk: Buffer) {
			bytes += chunk.length;
			take(redactor ? redactor.push(chunk) : chunk);
		},
		end() {
			if (redactor) take(redactor.end());
			return { ...shown.end(), bytes, kept: kept?.end() };
		}
	};
}
