import Switchyard

/// Everything that the server told between two snapshots, for all targets.
struct RemoteEvent {
    /// `.never` for an event that was made up here and is no snapshot.
    var version: Timestamp
    var targetChanges: [Int: TargetChange] = [:]
    /// Targets of which nothing that was confirmed counts any more, and with which purpose they are asked for again.
    var mismatches: [Int: TargetRequest.Purpose] = [:]
    var documents: [StoragePath: CachedDocument] = [:]
}

/// What changed for one target.
struct TargetChange {
    var resumeToken: [UInt8] = []
    var isCurrent = false
    var added: Set<StoragePath> = []
    var modified: Set<StoragePath> = []
    var removed: Set<StoragePath> = []
}
