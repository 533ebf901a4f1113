/** What was seen of an owner: how often it had renewed, and since when this has not changed. */
interface Sighting {
  renewals: string;
  sinceMs: number;
}

/** An owner that has not renewed for a whole lease, with its last renewal. */
export interface SilentOwner {
  owner: string;
  renewals: string;
}

/**
 * Watches the renewals of all owners: the servers that hold claims in a shared store. Only this machine's monotonic
 * clock counts: an owner has died if a whole lease passes here without a renewal. The owner counts its own lease from
 * before it sends a renewal, so that lease ends first.
 * @param leaseMs the lease in milliseconds, the same for all owners.
 */
export function createOwnerWatch(leaseMs: number) {
  let sightings = new Map<string, Sighting>();
  let lastReadMs = Number.NEGATIVE_INFINITY;

  return {
    /**
     * Notes what a read showed, and returns the owners to bury.
     * @param renewalsByOwner how often each owner has renewed.
     * @param sentAtMs when the read was sent: the owner may have renewed since.
     * @param readAtMs when the answer came: the owner renewed before.
     */
    see(renewalsByOwner: ReadonlyMap<string, string>, sentAtMs: number, readAtMs: number): SilentOwner[] {
      // After a pause of this watch, the other owners may also have been without the store. They get a whole lease to
      // renew. Half a lease is such a pause, because the watch reads several times in a lease.
      const before = sentAtMs - lastReadMs > leaseMs / 2 ? new Map<string, Sighting>() : sightings;
      lastReadMs = readAtMs;
      sightings = new Map();
      const silent: SilentOwner[] = [];
      for (const [owner, renewals] of renewalsByOwner) {
        const known = before.get(owner);
        const isSame = known?.renewals === renewals;
        sightings.set(owner, isSame ? known : { renewals, sinceMs: readAtMs });
        if (isSame && sentAtMs - known.sinceMs >= leaseMs) silent.push({ owner, renewals });
      }
      return silent;
    },
    /** Begins anew. After a failover, the last renewals may be lost. */
    forget(): void {
      sightings = new Map();
    },
  };
}
