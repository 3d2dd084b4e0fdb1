import { expect, test } from 'vitest';
import { createTasks, type TaskEntry } from './tasks.ts';

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

test('E15: a question is put to one client at a time', async () => {
	const { task } = open();
	expect(task.takeQuestion()).toBeNull();
	void task.ask(QUESTION).catch(() => undefined);
	const question = task.takeQuestion();
	expect(question).toMatchObject({ key: 'consent-1' });
	expect(task.takeQuestion()).toBeNull();
	const { changed } = task;
	if (question) task.release(question);
	await changed;
	expect(task.takeQuestion()).toBe(question);
});
