/** Writes one line of JSON per event to stderr; never prompts, keys or file contents. */

export interface Log {
	info(facts: Record<string, unknown>, sentence: string): void;
	error(facts: Record<string, unknown>, sentence: string): void;
}

export function createLog(write: (line: string) => void = (line) => process.stderr.write(line)): Log {
	const line = (level: string) => (facts: Record<string, unknown>, message: string) =>
		write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...facts })}\n`);
	return { info: line('info'), error: line('error') };
}
