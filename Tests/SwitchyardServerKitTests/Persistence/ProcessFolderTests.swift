import Foundation
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

@Suite struct ProcessFolderTests {
    @Test func `What a process left behind goes with the next one, and nothing else does`() async throws {
        let name = "process-folder-\(UInt32.random(in: 0 ... .max))"
        let mine = ProcessFolder.unique(name)
        #expect(mine != ProcessFolder.unique(name))
        #expect(mine.lastPathComponent.hasPrefix("\(name)-\(getpid())-"))
        let root = mine.deletingLastPathComponent()
        // No process has such a number.
        let left = root.appendingPathComponent("\(name)-999999999-1", isDirectory: true)
        let others = ["\(name)-999999999-x", "\(name)-999999999", "\(name)-some-1", "\(name)-999999999-1-2"]
            .map { root.appendingPathComponent($0, isDirectory: true) }
        defer { for folder in others + [mine, left] { try? FileManager.default.removeItem(at: folder) } }
        for folder in others + [mine, left] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        }
        _ = ProcessFolder.unique(name)
        #expect(!FileManager.default.fileExists(atPath: left.path))
        try await eventually("what was left is gone, not only renamed") {
            try FileManager.default.contentsOfDirectory(atPath: root.path).filter {
                $0.hasPrefix("\(name)-\(getpid())-")
            }
                == [mine.lastPathComponent]
        }
        for folder in others + [mine] { #expect(FileManager.default.fileExists(atPath: folder.path)) }
    }

    /// A database of a process that was killed needs some seconds to end, and writes meanwhile.
    @Test func `What somebody still writes to goes once they have ended`() async throws {
        let name = "process-folder-\(UInt32.random(in: 0 ... .max))"
        let root = FileManager.default.temporaryDirectory
        // No process has such a number.
        let left = root.appendingPathComponent("\(name)-999999999-1", isDirectory: true)
        try FileManager.default.createDirectory(at: left, withIntermediateDirectories: false)
        let folder = open(left.path, O_RDONLY)
        try #require(folder >= 0)
        // By the folder, not by its name: a rename does not disturb it.
        let writer = Task.detached {
            let end = ContinuousClock.now + .milliseconds(300)
            for number in 0... {
                let file = openat(folder, "\(number)", O_CREAT | O_WRONLY, 0o600)
                guard file >= 0, ContinuousClock.now < end else { break }
                close(file)
            }
            close(folder)
        }
        try await eventually("something has been written") {
            FileManager.default.fileExists(atPath: left.appendingPathComponent("10").path)
        }
        _ = ProcessFolder.unique(name)
        await writer.value
        try await eventually("it is gone") {
            try !FileManager.default.contentsOfDirectory(atPath: root.path).contains { $0.hasPrefix("\(name)-") }
        }
    }
}
