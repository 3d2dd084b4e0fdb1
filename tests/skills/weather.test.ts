import { describe, expect, it } from 'vitest';
import { closedAddress, runSkill, startServer, type SkillRun } from './run-skill.ts';

const SCRIPT = 'weather/scripts/weather.mjs';

const PLACES = [
	{ name: 'Paris', latitude: 48.85, longitude: 2.35, country: 'France', country_code: 'FR', admin1: 'Île-de-France' },
	{ name: 'Paris', latitude: 33.66, longitude: -95.55, country: 'United States', country_code: 'US', admin1: 'Texas' }
];

const FORECAST = {
	timezone: 'Europe/Paris',
	current: {
		time: '2025-06-01T14:00',
		temperature_2m: 21.4,
		apparent_temperature: 20.9,
		relative_humidity_2m: 48,
		precipitation: 0,
		weather_code: 2,
		wind_speed_10m: 11.2
	},
	daily: {
		time: ['2025-06-01', '2025-06-02'],
		weather_code: [61, 0],
		temperature_2m_max: [22.1, 25],
		temperature_2m_min: [13, 14.5],
		precipitation_sum: [3.2, 0],
		precipitation_probability_max: [80, null],
		wind_speed_10m_max: [20.5, 15]
	}
};

/** Runs the script against a fake service that answers with `places` and `forecast`. */
async function ask(args: string[], places: unknown = { results: PLACES }, forecast: unknown = FORECAST) {
	const server = await startServer(({ url }) => ({ json: url.pathname === '/v1/search' ? places : forecast }));
	const env = { WEATHER_GEOCODING_URL: server.url, WEATHER_API_URL: `${server.url}/` };
	return { ...(await runSkill(SCRIPT, args, { env })), requests: server.requests.map(({ url }) => url) };
}

async function askAt(url: string, ...options: string[]): Promise<SkillRun> {
	return runSkill(SCRIPT, ['Paris', ...options], { env: { WEATHER_GEOCODING_URL: url, WEATHER_API_URL: url } });
}

describe('weather', () => {
	it('E33: prints the weather now and a line for each day', async () => {
		const { stdout, stderr, exitCode, requests } = await ask(['Paris', '--days', '2']);
		expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
		expect(stdout).toContain('# Weather in Paris, Île-de-France, France');
		expect(stdout).toContain(
			'partly cloudy, 21.4 °C, feels like 20.9 °C, humidity 48 %, wind 11.2 km/h, precipitation 0 mm.'
		);
		expect(stdout).toContain('| Sun 2025-06-01 | light rain | 13 °C | 22.1 °C | 3.2 mm | 80 % | 20.5 km/h |');
		expect(stdout).toContain('| Mon 2025-06-02 | clear sky | 14.5 °C | 25 °C | 0 mm | – | 15 km/h |');
		expect(stdout).toContain('Other places with that name: Paris, Texas, United States.');
		expect(requests.map(({ pathname }) => pathname)).toEqual(['/v1/search', '/v1/forecast']);
		expect(requests[0]?.searchParams.get('name')).toBe('Paris');
		expect(Object.fromEntries(requests[1]?.searchParams ?? [])).toMatchObject({
			latitude: '48.85',
			longitude: '2.35',
			forecast_days: '2',
			timezone: 'auto'
		});
	});

	it('takes a name of several words and asks for imperial units', async () => {
		const { stdout, requests } = await ask(['New', 'York', '--units=imperial']);
		expect(requests[0]?.searchParams.get('name')).toBe('New York');
		expect(requests[1]?.searchParams.get('temperature_unit')).toBe('fahrenheit');
		expect(requests[1]?.searchParams.get('wind_speed_unit')).toBe('mph');
		expect(stdout).toContain('21.4 °F');
	});

	it('tells of one day alone: today with the weather now, tomorrow without', async () => {
		const today = await ask(['Paris', '--day', 'today']);
		expect(today.stdout).toContain('**Now** (2025-06-01 14:00');
		expect(today.stdout).toContain('Sun 2025-06-01');
		expect(today.stdout).not.toContain('Mon 2025-06-02');
		const tomorrow = await ask(['Paris', '--day', 'Tomorrow']);
		expect(tomorrow.stdout).toContain('Mon 2025-06-02');
		expect(tomorrow.stdout).not.toMatch(/Now|Sun 2025-06-01/);
		expect(tomorrow.requests[1]?.searchParams.get('forecast_days')).toBe('2');
	});

	it('chooses the place by its state or country', async () => {
		const { stdout, requests } = await ask(['paris, texas']);
		expect(stdout).toContain('# Weather in Paris, Texas, United States');
		expect(requests[1]?.searchParams.get('latitude')).toBe('33.66');
	});

	it('ends with code 1 and a hint for a place that does not exist', async () => {
		const unknown = await ask(['Xyzzy'], { generationtime_ms: 1 });
		expect(unknown).toMatchObject({ exitCode: 1, stdout: '' });
		expect(unknown.stderr).toContain('Couldn\'t find a place called "Xyzzy". Check the spelling');
		const elsewhere = await ask(['Paris, Spain']);
		expect(elsewhere.exitCode).toBe(1);
		expect(elsewhere.stderr).toContain(
			'Couldn\'t find "Paris" in Spain. Places with that name: Paris, Île-de-France, France; Paris, Texas'
		);
	});

	it.each([
		[['Paris', '--days', '17'], '--days must be a whole number from 1 to 16, not "17".'],
		[['Paris', '--days', 'two'], 'not "two"'],
		[['Paris', '--day', 'friday'], '--day must be today or tomorrow, not "friday". For more, use --days.'],
		[['Paris', '--day', 'today', '--days', '2'], 'Use --day or --days, not both.'],
		[['Paris', '--units', 'constructor'], '--units must be metric or imperial, not "constructor".'],
		[['Paris', '--colour'], '--colour']
	])('ends with code 2 for %j and asks nobody', async (args, message) => {
		const { exitCode, stderr, requests } = await ask(args);
		expect(exitCode).toBe(2);
		expect(stderr).toContain(message);
		expect(requests).toEqual([]);
	});

	it('ends with code 4 when nobody answers at the address', async () => {
		const url = await closedAddress();
		const { exitCode, stderr, stdout } = await askAt(url);
		expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' });
		const [sent, reason] = stderr.trimEnd().split('\n');
		expect(sent).toContain(`Would have sent: GET ${url}/v1/search?name=Paris&count=10`);
		expect(reason).toBe(`No connection to ${new URL(url).host} (ECONNREFUSED).`);
	});

	it('ends with code 4 when the service fails, with its reason, or answers with something else', async () => {
		const failing = await startServer(() => ({ status: 503, json: { error: true, reason: 'Overloaded' } }));
		const failed = await askAt(failing.url);
		expect(failed.exitCode).toBe(4);
		expect(failed.stderr).toContain('answered 503 (Overloaded). Try again later.');
		const portal = await startServer(() => ({ text: '<html>Please sign in</html>' }));
		const signIn = await askAt(portal.url);
		expect(signIn.exitCode).toBe(4);
		expect(signIn.stderr).toContain("didn't answer with JSON");
		expect(await ask(['Paris'], { results: PLACES }, { error: true })).toMatchObject({ exitCode: 4 });
	});

	it('gives up on a service that never ends its answer', async () => {
		const stuck = await startServer(() => ({ headers: { 'content-length': '1000' }, text: '{' }));
		const { exitCode, stderr } = await askAt(stuck.url, '--timeout', '1');
		expect(exitCode).toBe(4);
		expect(stderr).toContain("didn't answer within 1 seconds");
	});

	it('ends with code 3 for an address that is none', async () => {
		expect(await askAt('not an address')).toMatchObject({ exitCode: 3, stdout: '' });
	});
});
