package import Foundation
import SwitchyardBytes
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Keeps a session in one file of a folder, for several processes: readable by its owner only, replaced whole or not at all.
///
/// Two locks, both the system's, which frees them with the process: one for the moment between a read and a write, one (the
/// lease) for as long as a refresh takes. A sign-out never waits for somebody's refresh.
package final class FileSessionStore: SessionStore {
    private struct State {
        /// What could not be written, and the version of the file that it is to replace.
        var unsaved: (record: SessionRecord, over: SessionStoreMark)?
    }

    private let folder: String
    private let path: String
    private let state = Mutex(State())
    /// A holder needs it for a few milliseconds; who holds it longer is stopped or stuck.
    private static let patience = 400

    /// - Parameter name: Of the file; one for each project, so that sessions of different ones never mix.
    package init(folder: URL, name: String = "session") {
        self.folder = folder.path
        path = folder.appendingPathComponent(name, isDirectory: false).path
    }

    package var mark: SessionStoreMark {
        var info = stat()
        guard stat(path, &info) == 0 else { return SessionStoreMark() }
        return SessionStoreMark(info)
    }

    package func read() -> SessionReading {
        if let unsaved = unsaved(over: mark) { return .found(unsaved) }
        switch load() {
        case .success(.record(let record)): return .found(record)
        case .success(.newer): return .unreadable("The kept session is of a newer version of this software.")
        case .failure(let error): return .unreadable(error.description)
        case .success(.damaged): return setAsideDamaged()
        }
    }

    package func apply(_ change: SessionChange) -> SessionStoreOutcome {
        state.withLock { state in
            let lock = lock()
            defer { lock.map(POSIXFile.close) ?? () }
            let before = mark
            let (record, isForeign) = base(&state, before)
            guard let wanted = change.applied(to: record) else {
                return SessionStoreOutcome(.overtaken(record), mark: before)
            }
            do throws(POSIXFile.Failure) {
                guard lock != nil else { throw POSIXFile.Failure("another process holds it") }
                // What cannot be understood is somebody's; it gets another name instead of being lost.
                if isForeign { _ = try POSIXFile.setAside(path, as: "unreadable") }
                let written = try POSIXFile.replace(path, with: SessionFile.encode(wanted))
                state.unsaved = nil
                return SessionStoreOutcome(.kept(wanted), mark: SessionStoreMark(written))
            } catch {
                state.unsaved = (wanted, before)
                return SessionStoreOutcome(
                    .kept(wanted), mark: before,
                    notice: "The session cannot be kept on this device and ends with the process: \(error).")
            }
        }
    }

    package func lease(_ clock: any Clock<Duration>) async throws(AuthError) -> SessionLease {
        makeFolder()
        let descriptor: Int32
        do throws(POSIXFile.Failure) {
            descriptor = try POSIXFile.openLock(path + ".refresh.lock")
        } catch {
            // A folder that takes no lock takes no session either: there is nobody to share it with.
            return SessionLease {}
        }
        // Owns the descriptor from here on, whether the lock is got or not.
        let lease = SessionLease { POSIXFile.close(descriptor) }
        do throws(AuthError) {
            return try await LeaseWait.acquire(clock) { POSIXFile.tryLock(descriptor) ? lease : nil }
        } catch {
            lease.release()
            throw error
        }
    }

    // MARK: Inside

    private func makeFolder() {
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    private func lock() -> Int32? {
        makeFolder()
        guard let descriptor = try? POSIXFile.openLock(path + ".lock") else { return nil }
        for _ in 0..<Self.patience {
            if POSIXFile.tryLock(descriptor) { return descriptor }
            usleep(5000)
        }
        POSIXFile.close(descriptor)
        return nil
    }

    private func unsaved(over mark: SessionStoreMark) -> SessionRecord? {
        state.withLock { state in
            guard let unsaved = state.unsaved, unsaved.over == mark else { return nil }
            return unsaved.record
        }
    }

    /// What a change is made to, and whether there is a file that cannot be understood.
    private func base(_ state: inout State, _ mark: SessionStoreMark) -> (SessionRecord, isForeign: Bool) {
        if let unsaved = state.unsaved, unsaved.over == mark { return (unsaved.record, false) }
        return switch load() {
        case .success(.record(let record)): (record, false)
        case .success(.damaged), .success(.newer), .failure: (.none, true)
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

    /// Looks again under the lock: another process may just have replaced the file.
    private func setAsideDamaged() -> SessionReading {
        let lock = lock()
        defer { lock.map(POSIXFile.close) ?? () }
        guard lock != nil else { return .unreadable("The kept session is held by another process.") }
        switch load() {
        case .success(.record(let record)): return .found(record)
        case .success(.newer), .failure: return .unreadable("The kept session cannot be read.")
        case .success(.damaged): break
        }
        do throws(POSIXFile.Failure) {
            let name = try POSIXFile.setAside(path, as: "damaged")
            return .found(.none, notice: "The kept session was damaged and has been set aside as “\(name)”.")
        } catch {
            return .unreadable("The kept session is damaged and cannot be set aside: \(error).")
        }
    }
}

extension SessionStoreMark {
    /// A replaced file has another inode; one that was written in place has another time.
    fileprivate init(_ info: stat) {
        #if canImport(Darwin)
            let time = info.st_mtimespec
        #else
            let time = info.st_mtim
        #endif
        self.init(Int64(bitPattern: UInt64(info.st_ino)), Int64(time.tv_sec), Int64(time.tv_nsec), Int64(info.st_size))
    }
}
