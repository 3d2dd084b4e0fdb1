/** Checks an endpoint's response against its schema, so every test that calls a route checks this too. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Endpoint } from '../../src/lib/server/endpoint.ts';

/** Returns the response as it is, or a 500 that explains what doesn't match the description. */
export async function checkedAnswer(handler: unknown, response: Response): Promise<Response> {
	const { spec } = handler as Partial<Endpoint>;
	if (!spec || !('id' in spec) || !response.ok) return response;
	const answers = [spec.answer].flat();
	const type = response.headers.get('content-type') ?? '';
	if (response.status === 204) return answers.includes(null) ? response : wrong(spec.id, 'it answers nothing');
	const schema = answers.find((answer) => answer instanceof z.ZodType);
	if (!schema || !/^application\/json\b/.test(type)) {
		const isKnown = answers.some(
			(answer) =>
				answer && 'type' in answer && (type.startsWith(answer.type) || answer.type === 'application/octet-stream')
		);
		return isKnown ? response : wrong(spec.id, `it answers ${type}`);
	}
	if (response.status !== (spec.status ?? 200)) return wrong(spec.id, `its status is ${response.status}`);
	const body: unknown = await response.clone().json();
	const parsed = schema.safeParse(body);
	if (!parsed.success) return wrong(spec.id, parsed.error.message);
	return isDeepStrictEqual(parsed.data, body)
		? response
		: wrong(spec.id, `it answers more than is described: ${JSON.stringify(body).slice(0, 2000)}`);
}

function wrong(id: string, problem: string): Response {
	const message = `${id} answers otherwise than it is described: ${problem}`;
	console.error(message);
	return new Response(message, { status: 500 });
}
