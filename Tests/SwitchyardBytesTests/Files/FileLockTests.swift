import Foundation
import SwitchyardBytes
import Synchronization
import Testing

@Suite struct FileLockTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lock-\(RandomID.make())")

    private func path() throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appendingPathComponent("lock").path
    }

    @Test func `One holder at a time, until it is released or dropped`() throws {
        let path = try path()
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try FileLock(path)
        #expect(first.isHeld)
        #expect(throws: FileLock.Refusal.held) { try FileLock(path) }
        first.release()
        first.release()
        #expect(!first.isHeld)
        var second: FileLock? = try FileLock(path)
        #expect(second?.isHeld == true)
        second = nil
        #expect(try FileLock(path).isHeld)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func `A folder is made with those above it, once or again, and not where a file is`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let deep = folder.appendingPathComponent("a/b/c/").path
        try POSIXFile.makeFolder(deep)
        try POSIXFile.makeFolder(deep + "/")
        var isFolder = ObjCBool(false)
        #expect(FileManager.default.fileExists(atPath: deep, isDirectory: &isFolder) && isFolder.boolValue)
        let file = folder.appendingPathComponent("a/file").path
        try Data().write(to: URL(fileURLWithPath: file))
        for path in [file, file + "/inside"] {
            let error = #expect(throws: SystemFailure.self) { try POSIXFile.makeFolder(path) }
            #expect("\(error!)" == "Not a directory")
        }
    }

    @Test func `A place where no file can be made is no lock that somebody holds`() {
        #expect(throws: FileLock.Refusal.unusable(2)) { try FileLock("/nonexistent/lock") }
    }

    @Test func `The file of a lock goes with it where that is wanted, and the next one makes another`() throws {
        let path = try path()
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileLock(path, removesFile: true).release()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try FileLock(path).isHeld)
    }

    #if os(Linux)
        /// As a process has it that is being started just now.
        @Test func `A released lock is free, though somebody has a copy of its descriptor`() throws {
            let path = try path()
            defer { try? FileManager.default.removeItem(at: folder) }
            let first = try FileLock(path)
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").first { name in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")) == path
            }
            let copy = dup(try #require(open.flatMap { Int32($0) }))
            defer { close(copy) }
            first.release()
            #expect(try FileLock(path).isHeld)
        }
    #endif

    private final class Holders: Sendable {
        private let counts = Mutex((now: 0, most: 0, taken: 0))
        var most: Int { counts.withLock { $0.most } }
        var taken: Int { counts.withLock { $0.taken } }
        func enter() { counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.taken + 1) } }
        func leave() { counts.withLock { $0.now -= 1 } }
    }

    /// A lock on a file that its last holder has just removed keeps no one out.
    @Test func `However often holders remove the file, there is one of them at a time`() async throws {
        let path = try path()
        defer { try? FileManager.default.removeItem(at: folder) }
        let holders = Holders()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<400 {
                        guard let lock = try? FileLock(path, removesFile: true) else { continue }
                        holders.enter()
                        await Task.yield()
                        holders.leave()
                        lock.release()
                    }
                }
            }
        }
        #expect(holders.most == 1)
        #expect(holders.taken > 1)
    }
}
