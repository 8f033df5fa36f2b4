import Switchyard

/// Where a live move keeps its own documents, on both sides: `switchyardMoves/NAME` and below.
struct MoveLayout: Sendable, Hashable {
    let name: String

    /// Collections that are never copied.
    static let collections: Set = [
        "switchyardMoves", "switchyardLog", "switchyardApplied", "switchyardConflicts", "switchyardState",
    ]

    init(_ name: String) throws(MoveError) {
        let path = StoragePath(segments: ["switchyardMoves", name])
        do throws(StorageError) { try path.checked() } catch {
            throw MoveError(.invalidArgument, "“\(name)” cannot be the name of a move: \(error.message)")
        }
        self.name = name
    }

    /// The phase, for all devices.
    var control: StoragePath { StoragePath(segments: ["switchyardMoves", name]) }
    /// What has been written on this side and not been carried to the other.
    var log: CollectionPath { below("switchyardLog") }
    /// The entries of the other side's log that were carried out here.
    var applied: CollectionPath { below("switchyardApplied") }
    /// Entries that could not be carried out.
    var conflicts: CollectionPath { below("switchyardConflicts") }
    /// What people ask of the process that carries, and what it reports.
    var request: StoragePath { below("switchyardState").document("request") }
    var progress: StoragePath { below("switchyardState").document("progress") }

    private func below(_ collection: String) -> CollectionPath {
        CollectionPath(segments: control.segments + [collection])
    }
}

extension CollectionPath {
    func document(_ id: String) -> StoragePath { StoragePath(segments: segments + [id]) }
}

/// The contents of the control document.
struct MoveControl: Sendable, Hashable {
    var phase = MovePhase.idle
    /// Counts the changes: of two control documents, that with the higher number is right.
    var epoch = 0
    /// Whether the serving side is about to change: transactions wait, since they depend on what they have read.
    var isClosing = false
    /// The part of all reads that is compared in ``MovePhase/shadowRead``.
    var sample = 0.05

    init() {}

    /// - Returns: `nil` for a missing document, and for one of another version of this library.
    init?(_ document: DocumentSnapshot) {
        guard let name = document["phase"]?.stringValue, let phase = MovePhase(rawValue: name),
            let epoch = document["epoch"]?.integerValue
        else { return nil }
        self.phase = phase
        self.epoch = Int(epoch)
        isClosing = document["isClosing"]?.boolValue ?? false
        if let sample = document["sample"]?.doubleValue { self.sample = sample }
    }

    var fields: WriteFields {
        [
            "phase": .of(phase.rawValue), "epoch": .of(epoch), "isClosing": .of(isClosing), "sample": .of(sample),
            "changedAt": .serverTime,
        ]
    }
}
