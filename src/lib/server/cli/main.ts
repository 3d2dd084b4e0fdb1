#!/usr/bin/env node
/** The program behind `npx openrouter-skills`. */
import { runCli } from '../skills/cli/run-cli.ts';
import { evalCommand } from './eval.ts';

const { exitCode, stdout, stderr } = await runCli(process.argv.slice(2), {
	eval: evalCommand({ environment: process.env, tell: (line) => process.stderr.write(`${line}\n`) })
});
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = exitCode;
