import Switchyard

/// All changes from the server between two snapshots, for all targets.
struct RemoteEvent {
    /// `.never` for a local event that is not a snapshot.
    var version: Timestamp
    var targetChanges: [Int: TargetChange] = [:]
    /// Targets whose confirmed documents are no longer valid, and the purpose with which they are requested again.
    var mismatches: [Int: TargetRequest.Purpose] = [:]
    /// Each once.
    var documents: [CachedDocument] = []
}

/// What changed for one target.
struct TargetChange {
    var resumeToken: [UInt8] = []
    var isCurrent = false
    var added: Set<StoragePath> = []
    var modified: Set<StoragePath> = []
    var removed: Set<StoragePath> = []
    /// All results in the target's order, if the server said them.
    var results: [StoragePath]?
}
