public import Switchyard

/// An event of a stream of changes. Nothing becomes visible before the next ``snapshot(version:token:)``.
///
/// Target IDs are those of the requests; an empty list in `current`, `reset` and `token` means all targets. For one
/// target the order is: `added`, its documents, `current`, a snapshot; from then on changes and snapshots.
public enum WatchEvent: Sendable {
    /// The request to add these targets was accepted. Earlier events for them are ignored.
    case added([Int], token: [UInt8] = [])
    /// Without a cause, the answer to a remove request. With a cause, the server's refusal, which ends the target.
    case removed([Int], cause: StorageError? = nil)
    /// The events so far are the complete state of these targets.
    case current([Int], token: [UInt8] = [])
    /// These targets start over. Their documents follow; any other document is no longer a result.
    case reset([Int], token: [UInt8] = [])
    /// Only a newer token for these targets.
    case token([Int], token: [UInt8])
    /// The events so far are the state of all targets as of `version`, which never goes back.
    case snapshot(version: Timestamp, token: [UInt8] = [])

    /// A document as it is now: a result of `targets`, no longer one of `removedFrom`.
    case changed(DocumentSnapshot, targets: [Int], removedFrom: [Int] = [], tag: DocumentTag? = nil)
    /// A document that does not exist, as of `version`.
    case deleted(StoragePath, version: Timestamp, removedFrom: [Int])
    /// A document that left targets; it may or may not still exist.
    case left(StoragePath, removedFrom: [Int])
    /// The number of a target's documents on the server, to detect missed deletions.
    case filter(target: Int, count: Int, unchanged: BloomFilter? = nil)
    /// All results of a target in the server's order, for a backend that compares and filters in ways of its own, such as a
    /// database with a collation.
    ///
    /// From the next snapshot on, the listed documents are the results, in this order, and no others: none is evaluated or
    /// looked up on the device. Listed documents that the device does not have must come before the same snapshot; those that
    /// are no longer listed leave the target. Send it again whenever a result has changed. Documents with pending writes are
    /// still judged and placed on the device, until the server has read them back.
    case results(target: Int, [StoragePath])
}
