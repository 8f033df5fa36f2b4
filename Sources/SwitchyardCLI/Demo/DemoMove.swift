import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardMock
import SwitchyardMove

/// The end of the demo: the documents move from a local Firebase to another backend, while one device writes and another watches.
struct DemoMove {
    let server: LocalFirebase
    let report: @Sendable (String) -> Void

    func run() async throws {
        report("— the documents move to another backend while the streams run")
        var firebase = LocalBackends.settings(of: server)
        firebase.writeLedger = "ledger"
        let project = MockBackend()
        let journal = FileManager.default.temporaryDirectory
            .appendingPathComponent("switchyard-demo-\(UInt64.random(in: 0 ... .max))", isDirectory: true)
        defer { try? FileManager.default.removeItem(at: journal) }
        let (old, new) = (try await Infrastructure(FirebaseModule(firebase)), try await project.infrastructure())
        let (alice, bob) = (try await device(firebase, project), try await device(firebase, project))
        do {
            try await move(old, new, alice, bob, journal)
        } catch {
            for backend in [alice, bob, old, new] { await backend.shutDown() }
            throw error
        }
        for backend in [alice, bob, old, new] { await backend.shutDown() }
    }

    private func device(_ firebase: FirebaseConfiguration, _ project: MockBackend) async throws -> Infrastructure {
        let factory = InfrastructureFactory(
            MockModule(backend: project),
            MovingModule(from: FirebaseModule(firebase), to: MockModule(backend: project), name: "demo"))
        var selection = InfrastructureSelection(default: .mock)
        selection.storage = .moving
        selection.omit(.files)
        return try await factory.make(selection)
    }

    private func move(
        _ old: Infrastructure, _ new: Infrastructure, _ alice: Infrastructure, _ bob: Infrastructure, _ journal: URL
    ) async throws {
        var live = try LiveMove(
            from: try await BackendEnd(old, name: "local Firebase"), to: try await BackendEnd(new, name: "memory"),
            name: "demo", journal: journal)
        live.longestPause = .milliseconds(50)
        let move = live
        try await alice.storage.setDocument("checkIns/total", ["n": 0]).acknowledged()
        let writing = Task {
            var count: Int64 = 0
            while !Task.isCancelled {
                // In a task of its own, so that a write that has begun is not cancelled.
                try await Task {
                    _ = try await alice.storage.updateDocument("checkIns/total", ["n": .increment(1)])
                }.value
                count += 1
                // As fast as someone who taps, times twenty.
                try? await Task.sleep(for: .milliseconds(20))
            }
            return count
        }
        let process = Task { try await move.run() }
        defer {
            writing.cancel()
            process.cancel()
        }
        for phase in [MovePhase.dualWrite, .shadowRead, .cutOver] {
            try await move.reach(phase)
            report("\(phase.rawValue): the \(phase.serving) backend serves, and Alice goes on")
            // For whoever watches the demo.
            try await Task.sleep(for: .milliseconds(200))
        }
        writing.cancel()
        let count = try await writing.value
        for try await document in bob.storage.snapshots(of: "checkIns/total")
        where document["n"]?.integerValue == count { break }
        let project = try await new.actingAsProject().storage
        let found = try await project.document("checkIns/total")["n"]?.integerValue ?? 0
        report("Alice checked in \(count) times, Bob sees \(count), and the new backend has \(found)")
        let people = try await project.documents(Query(in: "users"), from: .server).documents
        report(
            "Everyone else came along, too: \(people.compactMap { $0["displayName"]?.stringValue }.sorted().joined(separator: ", "))"
        )
    }
}
