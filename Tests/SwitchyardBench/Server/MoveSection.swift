#if os(Linux)
    import Foundation
    import Switchyard
    import SwitchyardFirebase
    import SwitchyardLocalFirebase
    import SwitchyardMock
    import SwitchyardMove

    /// What a call costs during a live move, in each phase, compared with the backend alone: a local Firebase and a project in
    /// memory.
    struct MoveSection: BenchSection {
        let name = "live-move"

        func run(_ bench: Bench) async throws {
            var options = LocalFirebaseOptions()
            options.allowsEverything = true
            let server = try LocalFirebase(options)
            var firebase = FirebaseConfiguration(project: server.project, apiKey: "any", bucket: "files")
            firebase.usesEmulatorVariables = false
            firebase.emulators = .init(firestore: server.host, auth: server.host, storage: server.host)
            let project = MockBackend()
            let journal = FileManager.default.temporaryDirectory
                .appendingPathComponent("bench-move-\(UInt64.random(in: 0 ... .max))", isDirectory: true)
            defer { try? FileManager.default.removeItem(at: journal) }
            let factory = InfrastructureFactory(
                FirebaseModule(firebase), MockModule(backend: project),
                MovingModule(from: FirebaseModule(firebase), to: MockModule(backend: project), name: "bench"))
            var selection = InfrastructureSelection(default: .firebase)
            let alone = try await factory.make(selection)
            selection.storage = .moving
            selection.omit(.files)
            let moving = try await factory.make(selection)
            let (plain, app) = (
                try await alone.actingAsProject().storage, try await moving.actingAsProject().storage
            )
            let new = try await project.infrastructure()
            let live = try LiveMove(
                from: try await BackendEnd(alone, name: "firebase"), to: try await BackendEnd(new, name: "mock"),
                name: "bench", journal: journal)
            let process = Task { try await live.run() }
            let count = bench.settings.count(400, quick: 40)
            for phase in [MovePhase.dualWrite, .shadowRead, .cutOver] {
                try await live.reach(phase)
                let results = try await BenchComparison(rounds: bench.settings.count(7, quick: 1)).run([
                    .init("alone, get") { try await Self.gets(count, plain) },
                    .init("alone, set") { try await Self.sets(count, plain, "plain") },
                    .init("\(phase.rawValue), get") { try await Self.gets(count, app) },
                    .init("\(phase.rawValue), set") { try await Self.sets(count, app, "moving") },
                ])
                for result in results {
                    await bench.report(
                        "\(result.name)", result.seconds / Double(count) * 1_000_000, "µs")
                }
                guard phase != .cutOver else { continue }
                await bench.report(
                    "\(phase.rawValue), get, times the backend alone", results[2].seconds / results[0].seconds, "×",
                    .atMost(1.5))
                await bench.report(
                    "\(phase.rawValue), set, times the backend alone", results[3].seconds / results[1].seconds, "×",
                    .atMost(3))
            }
            process.cancel()
            _ = try? await process.value
            for backend in [alone, moving, new] { await backend.shutDown() }
            await server.stop()
        }

        private static func gets(_ count: Int, _ storage: any StorageClient) async throws {
            for number in 0..<count { _ = try await storage.document("items/\("i\(number % 50)")", from: .server) }
        }

        private static func sets(_ count: Int, _ storage: any StorageClient, _ name: String) async throws {
            for number in 0..<count {
                try await storage.setDocument("items/\("\(name)\(number % 50)")", ["n": .of(number)]).acknowledged()
            }
        }
    }
#endif
