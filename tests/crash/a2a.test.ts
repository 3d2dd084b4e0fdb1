/** A2A across a crash: a task that waits for its input is still open, and programs are told what became of theirs (E16). */
import type { Task } from '@a2a-js/sdk';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { putFile, sharedFolder } from '../support/folder.ts';
import { message, rpcCaller } from '../support/a2a-call.ts';
import { startApp, type App } from '../support/app-process.ts';
import { eventually } from '../support/eventually.ts';
import { call, gate, startModelServer, text, type ModelServer } from '../support/model-server.ts';
import { startPushReceiver, type PushReceiver } from '../support/push-receiver.ts';

// Starts the whole app twice, the first time with a build.
vi.setConfig({ testTimeout: 300_000 });

const folder = sharedFolder();
let model: ModelServer;
let receiver: PushReceiver;
let app: App;
beforeAll(async () => {
	await putFile(folder, 'demo/SKILL.md', '---\nname: demo\ndescription: Says things.\n---\nRun `scripts/say.sh`.');
	await putFile(folder, 'demo/scripts/say.sh', 'echo "said: $*"\n');
	model = await startModelServer();
	receiver = await startPushReceiver();
	const env = {
		...{ OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'test', OPENROUTER_MODEL: 'test/model' },
		...{ SKILLS_APPROVAL: 'ask', SKILLS_SANDBOX: 'process', CHAT_TITLES: 'false', A2A_PUSH_HOSTS: receiver.host }
	};
	app = await startApp({ skillsFrom: folder, env });
}, 300_000);
afterAll(async () => {
	await app?.stop();
	await model?.close();
	await receiver?.close();
});

test('E16: after a crash, a task that waited goes on with its answer, and one that ran has failed: both are told', async () => {
	const rpc = rpcCaller(app.url);
	const begin = async (token: string): Promise<Task> => {
		const taskPushNotificationConfig = { url: receiver.url, token };
		const configuration = { returnImmediately: true, taskPushNotificationConfig };
		return (await rpc('SendMessage', { message: message('go'), configuration })).result['task'] as Task;
	};
	/** The newest state the receiver knows. */
	const isTold = (token: string, state: string) =>
		eventually(() => {
			const own = receiver.told.filter(({ headers }) => headers['x-a2a-notification-token'] === token);
			const states = own.flatMap(({ body }) => (body['task'] ?? body['statusUpdate'])?.['status'] ?? []);
			expect(states.at(-1)).toMatchObject({ state });
		});
	model.push(call('use_skill', { skill: 'demo', script: 'scripts/say.sh', args: ['hi'] }));
	const waiting = await begin('waiting');
	await isTold('waiting', 'TASK_STATE_INPUT_REQUIRED');
	const held = gate();
	model.push(text('Be', held, 'gun'));
	const running = await begin('running');
	await isTold('running', 'TASK_STATE_WORKING');
	// A task works before its model is asked; killed between the two, it would leave its reply for the next request.
	await model.received(2);

	await app.restart({ signal: 'SIGKILL' });
	held.open();
	await isTold('running', 'TASK_STATE_FAILED');
	const { result } = await rpc('ListTasks', {});
	expect((result['tasks'] as Task[]).map(({ id, status }) => [id, status?.state]).toSorted()).toEqual(
		[
			[waiting.id, 'TASK_STATE_INPUT_REQUIRED'],
			[running.id, 'TASK_STATE_FAILED']
		].toSorted()
	);
	model.push(text('Done.'));
	const answer = message('allow', { taskId: waiting.id });
	expect((await rpc('SendMessage', { message: answer })).result['task']).toMatchObject({
		...{ id: waiting.id, status: { state: 'TASK_STATE_COMPLETED' } },
		artifacts: [{ artifactId: 'answer', parts: [{ text: 'Done.' }] }]
	});
	await isTold('waiting', 'TASK_STATE_COMPLETED');
	model.assertDone();
});
