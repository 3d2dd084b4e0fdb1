import { expect, test } from 'vitest';
import { createTasks, type TaskAnswer, type TaskEntry } from './tasks.ts';

const QUESTION = {
	method: 'elicitation/create' as const,
	params: { message: 'Allow once?', requestedSchema: { type: 'object' as const, properties: {} } }
};

function open(now: () => number = () => 0) {
	const told: string[] = [];
	const tasks = createTasks(now, ({ status }) => void told.push(status));
	const controller = new AbortController();
	const task = tasks.create('me', controller, 60_000) as TaskEntry | null;
	if (!task) throw new Error('no room');
	return { tasks, task, told, controller };
}

test('E15: an answer counts once, for the question that is open, and each question has a key of its own', async () => {
	const { task, told } = open();
	const first = task.ask(QUESTION);
	expect(task.question?.key).toBe('consent-1');
	task.answer('consent-2', { action: 'accept' });
	expect(task.status).toBe('input_required');
	task.answer('consent-1', { action: 'decline' });
	task.answer('consent-1', { action: 'accept' });
	expect(await first).toEqual({ action: 'decline' });
	const second = task.ask(QUESTION);
	task.answer('consent-1', { action: 'accept' });
	expect(task).toMatchObject({ status: 'input_required', question: { key: 'consent-2' } });
	task.answer('consent-2', { action: 'cancel' });
	expect(await second).toEqual({ action: 'cancel' });
	expect(told).toEqual(['input_required', 'working', 'input_required', 'working']);
});

test.each<[string, (opened: ReturnType<typeof open>, clock: { now: number }) => void]>([
	['is cancelled', ({ task }) => void task.cancel('The client cancelled it.')],
	['has no time left', ({ tasks }, clock) => ((clock.now = 60_000), tasks.sweep())],
	['loses its session', ({ tasks }) => tasks.leave('me')],
	['is on a server that stops', ({ tasks }) => tasks.close()]
])('E15: a task that asks and %s is cancelled, told once, and takes no answer any more', async (_what, end) => {
	const clock = { now: 0 };
	const opened = open(() => clock.now);
	const { task, told, controller } = opened;
	const answer = task.ask(QUESTION);
	end(opened, clock);
	await expect(answer).rejects.toThrow();
	task.answer('consent-1', { action: 'accept' });
	expect(task).toMatchObject({ status: 'cancelled', question: null });
	expect(controller.signal.aborted).toBe(true);
	await expect(task.ask(QUESTION)).rejects.toThrow('over');
	expect(told).toEqual(['input_required', 'cancelled']);
});

/** A client that is asked, and then answers or leaves. */
function client() {
	const { promise, resolve, reject } = Promise.withResolvers<TaskAnswer>();
	const self = {
		isThere: true,
		asked: 0,
		canAsk: () => self.isThere,
		ask: () => {
			self.asked += 1;
			return promise;
		},
		answer: (action: TaskAnswer['action']) => resolve({ action }),
		leave() {
			self.isThere = false;
			reject(new Error('It left.'));
		}
	};
	return self;
}

test('E15: a question is put to one client at a time: the first that is there, and the next one if that one leaves', async () => {
	const { task } = open();
	const [absent, session, waiting, late] = [client(), client(), client(), client()];
	absent.isThere = false;
	for (const each of [absent, session]) task.addAsker(each);
	const remove = task.addAsker(waiting, true);
	const answer = task.ask(QUESTION);
	expect([absent, session, waiting].map(({ asked }) => asked)).toEqual([0, 0, 1]);
	task.addAsker(late, true);
	task.offerQuestion();
	waiting.leave();
	remove();
	await expect.poll(() => late.asked).toBe(1);
	late.leave();
	await expect.poll(() => session.asked).toBe(1);
	session.leave();
	// Nobody is there; then somebody comes back.
	await expect.poll(() => task.question?.isTaken).toBe(false);
	expect(task.status).toBe('input_required');
	absent.isThere = true;
	task.offerQuestion();
	absent.answer('accept');
	expect(await answer).toEqual({ action: 'accept' });
	expect([absent, session, waiting, late].map(({ asked }) => asked)).toEqual([1, 1, 1, 1]);
});

test('E15: whoever answers elsewhere first is heard, and a client’s answer that comes after that isn’t', async () => {
	const { task } = open();
	const slow = client();
	task.addAsker(slow);
	const answer = task.ask(QUESTION);
	task.answer('consent-1', { action: 'decline' });
	slow.answer('accept');
	expect(await answer).toEqual({ action: 'decline' });
	const next = task.ask(QUESTION);
	expect(await next).toEqual({ action: 'accept' });
	expect(slow.asked).toBe(2);
});
