import Foundation
import SwitchyardTestSupport
import Testing

/// What tests that start processes stand on.
@Suite(.timeLimit(.minutes(4))) struct SpareThreadsTests {
    /// What a process has to say, and when it may end: files named after it.
    private struct Meeting: Sendable, Codable {
        let folder: String

        private func file(_ name: String) -> String { folder + "/" + name }

        func isSet(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }
        func set(_ name: String) throws { try Data().write(to: URL(fileURLWithPath: file(name))) }

        func attend(_ number: Int) throws {
            try set("\(number)")
            for _ in 0..<12_000 where !isSet("go") { usleep(10_000) }
        }
    }

    private static func hold(_ meeting: Meeting, _ number: Int) async {
        _ = await onSpareThreads {
            await #expect(processExitsWith: .success) { [meeting = meeting as Meeting, number = number as Int] in
                try meeting.attend(number)
            }
        }
    }

    @Test func `Tasks go on while more processes are waited for than there are cores`() async throws {
        let folder = ScratchSpace.url.appendingPathComponent("meeting-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let meeting = Meeting(folder: folder.path)
        let count = ProcessInfo.processInfo.activeProcessorCount + 1
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask { await Self.hold(meeting, number) }
            }
            // This checks from a task, while each of them is waited for.
            try await eventually("all have come") { (0..<count).allSatisfy { meeting.isSet("\($0)") } }
            try meeting.set("go")
            try await group.waitForAll()
        }
    }
}
