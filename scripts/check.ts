/** `npm run check`: everything about the code that needs no test run; exit code 1 when a check fails. */

import { runChecks } from './checks.ts';

const results = await runChecks();
if (results.some(({ isPassed }) => !isPassed)) process.exitCode = 1;
