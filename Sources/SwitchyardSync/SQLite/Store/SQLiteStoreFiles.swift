import Foundation
import Switchyard
import SwitchyardBytes

/// The underlying error if a store is already open elsewhere.
struct StoreIsLocked: Error {}

/// The files of a store in their folder, and the lock that gives one process exclusive access.
struct SQLiteStoreFiles {
    let folder: URL

    private var lockFile: URL { folder.appendingPathComponent("store.lock") }
    var database: URL { folder.appendingPathComponent("store.sqlite") }
    /// Marks contents that were found to be damaged while in use, so that they are not trusted at the next opening.
    private var damageMark: URL { folder.appendingPathComponent("store.damaged") }
    private static let suffixes = ["", "-wal", "-shm", "-journal"]

    /// Creates the folder and takes the lock.
    func lock() throws(StorageError) -> FileLock {
        do throws(SystemFailure) { try POSIXFile.makeFolder(folder.path) } catch {
            throw StorageError(
                .localStore,
                "The folder “\(folder.path)” for data on this device cannot be created: \(error). Let this process write there, "
                    + "or choose another.", underlying: error)
        }
        chmod(folder.path, 0o700)
        do throws(FileLock.Refusal) {
            return try FileLock(lockFile.path)
        } catch .held {
            throw StorageError(
                .localStore,
                "The data kept on this device is locked: another client uses “\(folder.path)”, in this process or another. Shut "
                    + "that one down, choose another folder, or give each process a name: localFiles.process.",
                underlying: StoreIsLocked())
        } catch {
            throw StorageError(
                .localStore,
                "The folder “\(folder.path)” for data on this device cannot be written to: \(error.reason). Check its owner and "
                    + "permissions, or choose another.", underlying: error)
        }
    }

    /// Restricts the database to its user before it is opened, also one that an earlier version left readable by others:
    /// SQLite creates files with the process's default permissions, and its other files with those of the database.
    func closeToOthers() {
        for suffix in SQLiteStoreFiles.suffixes.dropFirst() { chmod(database.path + suffix, 0o600) }
        let descriptor = open(database.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        fchmod(descriptor, 0o600)
        close(descriptor)
    }

    var isMarkedDamaged: Bool { FileManager.default.fileExists(atPath: damageMark.path) }

    func markDamaged() {
        _ = FileManager.default.createFile(
            atPath: damageMark.path, contents: nil, attributes: [.posixPermissions: 0o600])
    }

    /// Deletes our own databases that were set aside. Foreign databases stay.
    func removeSetAside() throws(StorageError) {
        let reasons: [SQLiteStore.SetAside.Reason] = [.damaged, .newer]
        do {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
            where reasons.contains(where: { name.hasPrefix("store.\($0.rawValue)-") }) {
                try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
            }
        } catch {
            throw StorageError(
                .localStore,
                "The wipe was not carried out: data that was set aside in “\(folder.lastPathComponent)” cannot be deleted.",
                underlying: error)
        }
    }

    /// Renames the database with SQLite's other files, so that nothing is lost.
    ///
    /// - Returns: Where the database is now.
    func setAside(as reason: SQLiteStore.SetAside.Reason) throws(StorageError) -> URL {
        let manager = FileManager.default
        var number = 1
        func target(_ suffix: String) -> URL {
            folder.appendingPathComponent("store.\(reason.rawValue)-\(number).sqlite\(suffix)")
        }
        while SQLiteStoreFiles.suffixes.contains(where: { manager.fileExists(atPath: target($0).path) }) { number += 1 }
        do {
            // The database is moved last: if this is interrupted, the next opening finds it and starts over.
            for suffix in SQLiteStoreFiles.suffixes.reversed() {
                let source = database.path + suffix
                if manager.fileExists(atPath: source) {
                    try manager.moveItem(atPath: source, toPath: target(suffix).path)
                }
            }
            if isMarkedDamaged { try manager.removeItem(at: damageMark) }
        } catch {
            throw StorageError(.localStore, "Unusable data on this device could not be moved aside.", underlying: error)
        }
        return target("")
    }
}
