import Foundation
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

@Suite struct ProcessFolderTests {
    @Test func `What a process left behind goes with the next one, and nothing else does`() async throws {
        let name = "process-folder-\(UInt32.random(in: 0 ... .max))"
        let mine = ProcessFolder.place(name)
        #expect(mine != ProcessFolder.place(name))
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
        _ = ProcessFolder.place(name)
        #expect(!FileManager.default.fileExists(atPath: left.path))
        try await eventually("what was left is gone, not only renamed") {
            try FileManager.default.contentsOfDirectory(atPath: root.path).filter {
                $0.hasPrefix("\(name)-\(getpid())-")
            }
                == [mine.lastPathComponent]
        }
        for folder in others + [mine] { #expect(FileManager.default.fileExists(atPath: folder.path)) }
    }
}
