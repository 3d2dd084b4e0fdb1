/** Contract tests for every store, run on every database. */
import type { Kysely } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import { testMcpServers } from './mcp-servers.suite.ts';
import { testApiKeys } from './api-keys.suite.ts';
import { testBranches } from './branches.suite.ts';
import { testConversationSkills } from './conversation-skills.suite.ts';
import { testConversationMarks } from './conversation-marks.suite.ts';
import { testConversations } from './conversations.suite.ts';
import { testEvalRuns } from './eval-runs.suite.ts';
import type { Bench } from './fixtures.suite.ts';
import { testLoginSessions } from './login-sessions.suite.ts';
import { testMessages } from './messages.suite.ts';
import { testNetworkGrants } from './network-grants.suite.ts';
import { testResponseConversations } from './response-conversations.suite.ts';
import { testResponses } from './responses.suite.ts';
import { testRunStart } from './run-start.suite.ts';
import { testRuns } from './runs.suite.ts';
import type { Database } from '../schema.ts';
import { testSearch } from './search.suite.ts';
import { testSecrets } from './secrets.suite.ts';
import { testSettings } from './settings.suite.ts';
import { testSkillCases } from './skill-cases.suite.ts';
import { testSkillDrafts } from './skill-drafts.suite.ts';
import { testSkillExecutions } from './skill-executions.suite.ts';
import { testSkillInstalls } from './skill-installs.suite.ts';
import { testSkillPins } from './skill-pins.suite.ts';
import { testSkillTrash } from './skill-trash.suite.ts';
import { testStoredFiles } from './stored-files.suite.ts';
import { testTasks } from './tasks.suite.ts';
import { createStore } from '../store.ts';
import { testTrustedSkills } from './trusted-skills.suite.ts';
import { testUploadedFiles } from './uploaded-files.suite.ts';

/** `open` returns a migrated database, which the suite closes. */
export function testStore(name: string, open: () => Promise<Kysely<Database>>): void {
	describe(`the store on ${name}`, () => {
		let bench: Bench;

		beforeAll(async () => {
			const db = await open();
			bench = { db, store: createStore(db) };
		}, 60_000);
		beforeEach(async () => {
			await bench.db.deleteFrom('conversations').execute();
			await bench.db.deleteFrom('grants').execute();
		});
		afterAll(() => bench.store.close());

		testApiKeys(() => bench);

		testMcpServers(() => bench);
		testConversations(() => bench);
		testConversationSkills(() => bench);
		testConversationMarks(() => bench);
		testSearch(() => bench);
		testMessages(() => bench);
		testRunStart(() => bench);
		testRuns(() => bench);
		testTasks(() => bench);
		testResponses(() => bench);
		testUploadedFiles(() => bench);
		testStoredFiles(() => bench);
		testResponseConversations(() => bench);
		testBranches(() => bench);
		testLoginSessions(() => bench);
		testSecrets(() => bench);
		testSkillExecutions(() => bench);
		testTrustedSkills(() => bench);
		testNetworkGrants(() => bench);
		testSkillInstalls(() => bench);
		testSkillTrash(() => bench);
		testSkillDrafts(() => bench);
		testSkillPins(() => bench);
		testSkillCases(() => bench);
		testEvalRuns(() => bench);
		testSettings(() => bench);
	});
}
