import { Failure } from '../../core/failure.js';
import { EXIT } from '../../core/outcome.js';
import { SUITES, type Suite } from '../names.js';
import { tool } from '../process.js';

/** One line a source: its address, its release, its component. */
const FORMAT = '$(SITE) $(RELEASE) $(COMPONENT)';
/** Releases of Debian's by the names that an apt configuration may use for them. */
const RELEASE = new RegExp(`^(${[...SUITES, 'stable', 'oldstable', 'testing'].join('|')})(-updates|-security)?$`);

/** Sources of a suite in sources.list form, from the mirror that apt on this machine uses. */
export async function debianSources(suite: Suite): Promise<readonly string[]> {
  const sources = sourcesFor(
    suite,
    await tool(['apt-get', 'indextargets', '--format', FORMAT, 'Created-By: Packages']),
  );
  if (sources.length > 0) return sources;
  throw new Failure(
    'apt on this machine names no Debian mirror, and the hosts of a lab are Debian machines',
    EXIT.couldNotTell,
    'run the lab on a Debian machine, or add a Debian source to /etc/apt/sources.list.d',
  );
}

/** Turns what `apt-get indextargets` says of this machine into sources of another suite of the same mirror. */
export function sourcesFor(suite: Suite, targets: string): readonly string[] {
  const sources = targets.split('\n').flatMap((line) => {
    const [site, release = '', component] = line.split(' ');
    const known = RELEASE.exec(release);
    return known && site && component === 'main' ? [`deb ${site} ${suite}${known[2] ?? ''} main`] : [];
  });
  return [...new Set(sources)];
}
