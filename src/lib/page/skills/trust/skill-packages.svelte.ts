/** Looks up and installs the packages of a skill, and follows how it goes. */
import type { SkillPackagesState } from '../../../shared/packages.ts';
import { type ApiError, asApiError } from '../../request.ts';
import type { Client } from '../../server.ts';

export type PackagesClient = Pick<Client, 'getPackages' | 'lookUpPackages' | 'installPackages' | 'removePackages'>;
/** Packages to look up besides those the skill’s files name. */
export type AlsoWanted = { ecosystem: 'python' | 'javascript'; name: string }[];

export interface SkillPackagesOptions {
	client: PackagesClient;
	/** `source/name` */
	skillId: string;
	/** Called when packages were installed or removed, here or elsewhere. */
	onchange?: ((isInstalled: boolean) => void) | undefined;
	/** Time between questions while something goes on, in milliseconds. */
	pollMs?: number;
}

const POLL_MS = 500;

export class SkillPackages {
	#options: SkillPackagesOptions;
	#closed = new AbortController();
	#timer: ReturnType<typeof setTimeout> | undefined;
	state = $state.raw<SkillPackagesState | null>(null);
	/** A request that failed; why the work failed is in `state.problem`. */
	error = $state.raw<ApiError | null>(null);
	isBusy = $state(false);
	/** What went on was stopped here. */
	isStopped = $state(false);

	constructor(options: SkillPackagesOptions) {
		this.#options = options;
	}

	read = () => this.#ask(() => this.#options.client.getPackages(this.#options.skillId, this.#closed.signal));
	lookUp = (also: AlsoWanted = []) =>
		this.#ask(() => this.#options.client.lookUpPackages(this.#options.skillId, { also }));
	install = (digest: string) => this.#ask(() => this.#options.client.installPackages(this.#options.skillId, digest));
	stop = () => this.forget().then(() => void (this.isStopped = this.error === null));
	/** Stops what is going on, or takes back what was shown. Another tab may have installed it: that stays. */
	forget = () => this.#ask(() => this.#options.client.removePackages(this.#options.skillId, 'pending'));
	/** Of a list that is open, nothing is asked any more. */
	uninstall = () => this.#ask(() => this.#options.client.removePackages(this.#options.skillId, 'installed'));

	close(): void {
		this.#closed.abort();
		clearTimeout(this.#timer);
	}

	async #ask(ask: () => Promise<SkillPackagesState>): Promise<void> {
		if (this.isBusy) return;
		clearTimeout(this.#timer);
		this.isBusy = true;
		this.isStopped = false;
		this.error = null;
		try {
			this.#take(await ask());
		} catch (failure) {
			if (!this.#closed.signal.aborted) this.error = asApiError(failure);
		} finally {
			this.isBusy = false;
		}
		// A lost connection doesn’t end the work, so it’s asked again.
		if (!this.#closed.signal.aborted && this.state?.work)
			this.#timer = setTimeout(() => void this.read(), this.#options.pollMs ?? POLL_MS);
	}

	#take(now: SkillPackagesState): void {
		if (this.#closed.signal.aborted) return;
		const before = this.state;
		this.state = now;
		const [had, has] = [before?.installed, now.installed].map((each) => (each?.state === 'ready' ? each.digest : null));
		// What was looked up is installed already, so nothing is asked.
		const isThere = before?.work?.kind === 'looking-up' && !now.work && !now.proposed && !now.problem && has !== null;
		if (before !== null && (had !== has || isThere)) this.#options.onchange?.(has !== null);
	}
}
