import { redirect } from '@sveltejs/kit';

/** The page is called Runs. */
export function load({ url }: { url: URL }): never {
	redirect(308, `/skills/executions${url.search}`);
}
