public import Switchyard

/// What a stream of changes tells. Nothing becomes visible before the next ``snapshot(version:token:)``.
///
/// Target IDs are those of the requests; an empty list in `current`, `reset` and `token` means all targets. For one
/// target the order is: `added`, its documents, `current`, a snapshot; from then on changes and snapshots.
public enum WatchEvent: Sendable {
    /// The request to add these targets was taken. Needed before anything else for them counts.
    case added([Int], token: [UInt8] = [])
    /// Without a cause, the answer to a remove request. With one, the server's refusal: the target is over.
    case removed([Int], cause: StorageError? = nil)
    /// What came so far is the complete state of these targets.
    case current([Int], token: [UInt8] = [])
    /// These targets start over. Their documents follow; any that does not is no longer a result.
    case reset([Int], token: [UInt8] = [])
    /// A newer token for these targets, and nothing else.
    case token([Int], token: [UInt8])
    /// Everything told so far is the state of all targets as of `version`, which never goes back.
    case snapshot(version: Timestamp, token: [UInt8] = [])

    /// A document as it is now: a result of `targets`, no longer one of `removedFrom`.
    case changed(DocumentSnapshot, targets: [Int], removedFrom: [Int] = [])
    /// A document that does not exist, as of `version`.
    case deleted(StoragePath, version: Timestamp, removedFrom: [Int])
    /// A document that left targets; whether it still exists is not said.
    case left(StoragePath, removedFrom: [Int])
    /// How many documents a target has on the server, for finding out whether a deletion was missed.
    case filter(target: Int, count: Int, unchanged: BloomFilter? = nil)
}
