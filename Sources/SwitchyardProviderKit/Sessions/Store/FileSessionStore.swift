package import Foundation
package import Switchyard
import SwitchyardBytes
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Stores a session in one file of a folder, for several processes. The file is readable by its owner only, and replaced
/// atomically.
///
/// There are two system locks, which end with the process: one for the time between a read and a write, and one (the lease)
/// for the duration of a refresh. A sign-out never waits for a refresh.
package final class FileSessionStore: SessionStore {
    /// The last record read or written.
    private struct Last {
        let record: SessionRecord
        /// The version of its file; if it could not be written, the version it should replace.
        let mark: StoredSessionVersion
        var isUnsaved = false
    }

    /// The record that a change applies to.
    private struct Base {
        let record: SessionRecord
        let mark: StoredSessionVersion
        /// Whether the existing file has different contents that cannot be read, at least not now.
        var isForeign = false
    }

    private let folder: String
    private let path: String
    private let last = Mutex<Last?>(nil)
    /// A holder needs it for a few milliseconds; one that holds it longer is suspended or stuck.
    private static let patience = 400

    /// - Parameter name: The name of the file; one for each project, so that their sessions never mix.
    package init(folder: URL, name: String = "session") {
        self.folder = folder.path
        path = folder.appendingPathComponent(name, isDirectory: false).path
    }

    package var mark: StoredSessionVersion {
        var info = stat()
        guard stat(path, &info) == 0 else { return StoredSessionVersion() }
        return StoredSessionVersion(info)
    }

    package func read() -> SessionReading {
        last.withLock { last in
            let before = mark
            if let last, last.isUnsaved, last.mark == before { return .found(last.record) }
            switch load() {
            case .success(.record(let record)):
                last = Last(record: record, mark: before)
                return .found(record)
            case .success(.newer):
                return .unreadable("The stored session was written by a newer version of this software.")
            case .failure(let error): return .unreadable(error.description)
            case .success(.damaged):
                let reading = setAsideDamaged()
                if case .found(let record, _) = reading { last = Last(record: record, mark: mark) }
                return reading
            }
        }
    }

    package func apply(_ change: SessionChange) -> SessionStoreOutcome {
        last.withLock { last in
            let lock = lock()
            defer { lock?.release() }
            let base = base(&last)
            guard let wanted = change.applied(to: base.record) else {
                return SessionStoreOutcome(.overtaken(base.record), mark: base.mark)
            }
            do throws(POSIXFile.Failure) {
                // A process that never gives the lock back cannot keep a user signed in.
                guard lock != nil || change.endsSession else { throw POSIXFile.Failure("another process holds it") }
                if base.isForeign {
                    // It may be a newer session, or the end of this one: only a user's request may replace it.
                    guard change.isPersonal else { throw POSIXFile.Failure("the saved session cannot be read") }
                    // It belongs to a user, so it is renamed instead of being lost.
                    _ = try POSIXFile.setAside(path, as: "unreadable")
                }
                let written = StoredSessionVersion(try POSIXFile.replace(path, with: SessionFile.encode(wanted)))
                last = Last(record: wanted, mark: written)
                if case .signedOut(let end) = wanted, end.wipesLocalData { removeSetAside() }
                return SessionStoreOutcome(.kept(wanted), mark: written)
            } catch {
                if change.endsSession, !base.isForeign { return end(wanted, &last, error) }
                last = Last(record: wanted, mark: base.mark, isUnsaved: true)
                return SessionStoreOutcome(
                    .kept(wanted), mark: base.mark,
                    notice: "The session cannot be stored on this device and ends with the process: \(error).",
                    isUndoneByRestart: change.endsSession && change.isPersonal && mark != StoredSessionVersion())
            }
        }
    }

    /// Ends the session although its file cannot be replaced, as on a full disk: by writing over it or removing it.
    private func end(
        _ wanted: SessionRecord, _ last: inout Last?, _ reason: POSIXFile.Failure
    ) -> SessionStoreOutcome {
        if case .signedOut(let end) = wanted, end.wipesLocalData { removeSetAside() }
        do throws(POSIXFile.Failure) {
            try POSIXFile.overwrite(path, with: SessionFile.encode(wanted))
            last = Last(record: wanted, mark: mark)
            return SessionStoreOutcome(.kept(wanted), mark: mark)
        } catch {
            let isGone = POSIXFile.remove(path)
            last = Last(record: wanted, mark: mark, isUnsaved: true)
            return SessionStoreOutcome(
                .kept(wanted), mark: mark,
                notice: isGone
                    ? "The sign-out cannot be stored on this device, and no session is left there: \(reason)."
                    : "The session on this device can be neither replaced nor removed, so a restart brings it back: "
                        + "\(reason).",
                isUndoneByRestart: !isGone)
        }
    }

    package func lease(_ clock: any Clock<Duration>) async throws(AuthError) -> SessionLease {
        makeFolder()
        return try await LeaseWait.acquire(clock) {
            do throws(FileLock.Refusal) {
                let lock = try FileLock(path + ".refresh.lock")
                return SessionLease { lock.release() }
            } catch .held {
                return nil
            } catch {
                // If the folder allows no lock, it also allows no session file, so there is nothing to share.
                return SessionLease {}
            }
        }
    }

    // MARK: Inside

    /// Damaged or unreadable sessions may belong to the user whose data is wiped.
    private func removeSetAside() {
        let name = path.split(separator: "/").last ?? ""
        for other in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where other.hasPrefix(name + ".damaged-") || other.hasPrefix(name + ".unreadable-") {
            try? FileManager.default.removeItem(atPath: folder + "/" + other)
        }
    }

    private func makeFolder() {
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    private func lock() -> FileLock? {
        makeFolder()
        for _ in 0..<Self.patience {
            do throws(FileLock.Refusal) {
                return try FileLock(path + ".lock")
            } catch .held {
                usleep(5000)
            } catch {
                return nil
            }
        }
        return nil
    }

    /// An unreadable file does not mean signed out: the last record applies. It keeps its older mark, so that the file is
    /// read again until that succeeds.
    private func base(_ last: inout Last?) -> Base {
        let present = mark
        if let last, last.isUnsaved, last.mark == present { return Base(record: last.record, mark: present) }
        switch load() {
        case .success(.record(let record)):
            last = Last(record: record, mark: present)
            return Base(record: record, mark: present)
        case .success(.damaged): return Base(record: .none, mark: present, isForeign: true)
        case .success(.newer), .failure:
            guard let last else { return Base(record: .none, mark: present, isForeign: true) }
            return Base(record: last.record, mark: last.mark, isForeign: last.mark != present)
        }
    }

    private func load() -> Result<SessionFile.Contents, POSIXFile.Failure> {
        do throws(POSIXFile.Failure) {
            guard let bytes = try POSIXFile.read(path) else { return .success(.record(.none)) }
            return .success(SessionFile.decode(bytes))
        } catch {
            return .failure(error)
        }
    }

    /// Reads again under the lock, because another process may just have replaced the file.
    private func setAsideDamaged() -> SessionReading {
        let lock = lock()
        defer { lock?.release() }
        guard lock != nil else { return .unreadable("Another process is holding the stored session.") }
        switch load() {
        case .success(.record(let record)): return .found(record)
        case .success(.newer), .failure: return .unreadable("The stored session cannot be read.")
        case .success(.damaged): break
        }
        do throws(POSIXFile.Failure) {
            let name = try POSIXFile.setAside(path, as: "damaged")
            return .found(.none, notice: "The stored session was damaged and has been set aside as “\(name)”.")
        } catch {
            return .unreadable("The stored session is damaged and cannot be set aside: \(error).")
        }
    }
}

extension StoredSessionVersion {
    /// A replaced file has another inode; one written in place has another modification time.
    fileprivate init(_ info: stat) {
        #if canImport(Darwin)
            let time = info.st_mtimespec
        #else
            let time = info.st_mtim
        #endif
        self.init(Int64(bitPattern: UInt64(info.st_ino)), Int64(time.tv_sec), Int64(time.tv_nsec), Int64(info.st_size))
    }
}

/// Waits for a lease that can only be polled.
enum LeaseWait {
    /// Longer than any call of the holder may take.
    static let limit = Duration.seconds(75)

    static func acquire(
        _ clock: any Clock<Duration>, _ attempt: () -> SessionLease?
    ) async throws(AuthError) -> SessionLease {
        var pause = Duration.milliseconds(5)
        var waited = Duration.zero
        while true {
            if let lease = attempt() { return lease }
            guard waited < limit else {
                throw AuthError(.localStore, "Another process is holding the session.", isRetryable: true)
            }
            do {
                try await clock.sleep(for: pause)
            } catch {
                throw .waiterCancelled
            }
            waited += pause
            pause = min(pause * 2, .milliseconds(200))
        }
    }
}

/// The right to refresh among the engines of one process, for a store that no other process can see.
final class LocalLease: Sendable {
    private let isTaken = Atomic(false)

    func acquire(_ clock: any Clock<Duration>) async throws(AuthError) -> SessionLease {
        try await LeaseWait.acquire(clock) {
            guard !isTaken.exchange(true, ordering: .acquiringAndReleasing) else { return nil }
            return SessionLease { [self] in isTaken.store(false, ordering: .releasing) }
        }
    }
}
