public import Foundation
public import Switchyard

/// Data on this device that could not be used when it was opened. It is kept under another name until the local data is
/// deleted, by a sign-out with that option or by hand.
public struct SetAsideData: Sendable, Hashable {
    public enum Reason: String, Sendable, Hashable {
        case damaged
        /// Written by a later version of this software.
        case newer
        /// A database of something else.
        case foreign
    }

    public let reason: Reason
    /// The new location of the database. Files with the same name and a suffix belong to it.
    public let location: URL
    /// How many unsent writes of all users were read from damaged data. They are not queued: each user finds theirs in
    /// `refusedWrites()`, with the code `.localStore`, and can queue them again with `resolveRefusedWrite(_:requeuing:)`. A
    /// write that is queued again unchanged takes effect once even if it had been sent.
    public let salvagedWrites: Int
    /// Whether those are all unsent writes; `false` if some could not be read, or if it cannot be known.
    public let isSalvageComplete: Bool
}

extension SyncedStorageClient {
    /// The data that was set aside when the storage was opened, if any; the client then began with an empty one. Opens the
    /// storage if necessary.
    ///
    /// Writes queued there have not been sent, so tell the user if you can; see ``SetAsideData/salvagedWrites``. The
    /// infrastructure's observer receives a notice, too.
    public func setAsideData() async throws(StorageError) -> SetAsideData? { try await engine.setAsideData() }
}

extension SyncEngine {
    func setAsideData() throws(StorageError) -> SetAsideData? {
        try (machine().store as? SQLiteStore)?.setAside.map { SetAsideData($0) }
    }

    /// Tells the observer if data was set aside when `store` was opened.
    func reportSetAside(in store: any SyncStore) {
        guard let aside = (store as? SQLiteStore)?.setAside else { return }
        report(.notice(SetAsideData(aside).notice))
    }
}

extension SetAsideData {
    fileprivate init(_ aside: SQLiteStore.SetAside) {
        reason =
            switch aside.reason {
            case .damaged: .damaged
            case .newer: .newer
            case .foreign: .foreign
            }
        location = aside.location
        salvagedWrites = aside.salvagedBatches
        isSalvageComplete = aside.isSalvageComplete
    }

    fileprivate var notice: String {
        let place = "It was set aside as “\(location.lastPathComponent)”"
        switch reason {
        case .newer:
            return
                "The data kept on this device was written by a later version of this software. \(place); writes queued "
                + "there are not sent."
        case .foreign: return "The folder for data on this device had a database of something else. \(place)."
        case .damaged:
            let writes = "\(salvagedWrites) unsent write\(salvagedWrites == 1 ? "" : "s")"
            let found =
                switch (salvagedWrites, isSalvageComplete) {
                case (0, true): "No write was queued there."
                case (0, false): "No queued write could be read from it; if there were any, they are lost."
                case (_, true): "\(writes) moved from its queue to the rejected writes: requeue or drop each of them."
                case (_, false):
                    "\(writes) moved from its queue to the rejected writes: requeue or drop each of them. Others may be lost."
                }
            return "The data kept on this device was damaged. \(place). \(found)"
        }
    }
}
