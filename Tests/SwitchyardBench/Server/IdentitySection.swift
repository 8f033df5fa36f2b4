#if os(Linux)
    import Foundation
    import Switchyard
    import SwitchyardBytes
    import SwitchyardFirebase
    import SwitchyardSupabase

    /// Single reads and writes for one, a hundred and ten thousand callers on the real Firestore emulator; the memory per
    /// caller, and the time to start acting for one.
    struct IdentitySection: BenchSection {
        let name = "identities"
        private static let concurrency = 16

        func run(_ bench: Bench) async throws {
            let site = try await FirestoreBenchSite.start()
            defer { site.stop() }
            let backend = try await site.backend()
            let counts = [1, 100, 10_000]
            var crowds: [[ActingClients]] = []
            for count in counts { crowds.append(try await Self.clients(count, backend, site.project)) }
            let calls = bench.settings.count(10_000, quick: 160)
            let paths = Set(
                crowds.flatMap { clients in (0..<calls).map { Self.path(clients[$0 % clients.count], $0) } })
            try await backend.actingAsProject().storage.writeInBulk(paths.map { try .set($0, ["number": 0]) })
            for (what, call) in [("get", Self.get), ("set", Self.set)] {
                let contenders = zip(counts, crowds).map { count, clients in
                    BenchComparison.Contender("\(count)") { try await Self.spread(calls, over: clients, call) }
                }
                let results = try await BenchComparison(rounds: bench.settings.count(5, quick: 1)).run(contenders)
                for result in results {
                    await bench.report("\(what), identities: \(result.name)", Double(calls) / result.seconds, "req/s")
                }
                for result in results.dropFirst() {
                    await bench.report(
                        "\(what), rate of \(result.name) identities, share of one's",
                        results[0].seconds / result.seconds, "×", .atLeast(1 / 1.15))
                    await bench.report(
                        "\(what), processor time of \(result.name) identities, times one's",
                        result.cpuSeconds / results[0].cpuSeconds, "×", .atMost(1.15))
                }
            }
            try await reportMaking(bench, backend, site.project)
            let bytes = try await bench.inChild(
                "memory \(site.port) \(site.project)", rounds: bench.settings.count(3, quick: 1))
            await bench.report(
                "memory of an identity that has read and written, Firebase", bytes, "bytes", .atMost(2048))
            await backend.shutDown()
            let supabase = try SupabaseBenchSite.start(name, bench.settings, area: bench.area)
            defer { supabase.stop() }
            let others = try await bench.inChild(
                "memory-supabase \(supabase.url) \(supabase.key)", rounds: bench.settings.count(3, quick: 1))
            await bench.report(
                "memory of an identity that has read and written, Supabase", others, "bytes", .atMost(2048))
        }

        private func reportMaking(_ bench: Bench, _ backend: Infrastructure, _ project: String) async throws {
            let caller = Self.caller(0, project)
            let count = bench.settings.count(20_000, quick: 1_000)
            let results = try await BenchComparison(rounds: bench.settings.count(7, quick: 1)).run([
                .init("acting(as:)") { for _ in 0..<count { _ = try await backend.acting(as: caller) } }
            ])
            await bench.report("acting(as:)", results[0].seconds / Double(count) * 1e6, "µs", .atMost(20))
        }

        func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
            let words = task.split(separator: " ").map(String.init)
            let count = settings.count(10_000, quick: 1_000)
            switch words.first {
            case "serve"?:
                try await SupabaseBenchSite.serve(filling: "select 1")
                return 0
            case "memory"? where words.count == 3:
                let site = FirestoreBenchSite(port: Int(words[1]) ?? 0, project: words[2])
                let callers = (0..<count).map { Self.caller($0, site.project) }
                return try await Self.memory(of: callers, try await site.backend())
            case "memory-supabase"? where words.count == 3:
                let configuration = SupabaseConfiguration(url: words[1], key: Secret(words[2]))
                // Tokens are not verified here, and the database accepts this one for all callers.
                let callers = (0..<count).map {
                    VerifiedToken(
                        token: Secret(words[2]), provider: .supabase, userID: "u\($0)", issuer: words[1],
                        expiresAt: .distantFuture)
                }
                return try await Self.memory(of: callers, try await Infrastructure(SupabaseModule(configuration)))
            default: throw BenchFailure("no such task")
            }
        }

        private static func memory(of callers: [VerifiedToken], _ backend: Infrastructure) async throws -> Double {
            // First allocate what many concurrent calls need: connections, buffers, the allocator's own memory.
            var first: [ActingClients] = []
            for caller in callers.prefix(1_000) { first.append(try await backend.acting(as: caller)) }
            try await Self.spread(4_000, over: first, Self.set)
            let count = callers.count
            let before = Usage.residentBytes
            var clients: [ActingClients] = []
            clients.reserveCapacity(count)
            for caller in callers { clients.append(try await backend.acting(as: caller)) }
            try await Self.spread(count, over: clients, Self.set)
            try await Self.spread(count, over: clients, Self.get)
            let growth = Usage.residentBytes - before
            withExtendedLifetime((clients, callers, first)) {}
            await backend.shutDown()
            return Double(growth) / Double(count)
        }

        // MARK: Callers

        private typealias Call = @Sendable (ActingClients, Int) async throws -> Void

        private static let get: Call = { client, number in
            guard try await client.storage.document(path(client, number), from: .server).exists else {
                throw BenchFailure("a wrong answer")
            }
        }

        /// A different value each time: a write without a change is less work for the server.
        private static let set: Call = { client, number in
            try await client.storage.setDocument(path(client, number), ["number": .of(number)]).acknowledged()
        }

        /// A different path for each call of a round, so that no two writes conflict, even with few identities.
        private static func path(_ client: ActingClients, _ number: Int) -> StoragePath {
            StoragePath(unchecked: "users/\(client.caller.userID)/notes/\(number)")
        }

        private static func clients(
            _ count: Int, _ backend: Infrastructure, _ project: String
        ) async throws -> [ActingClients] {
            var clients: [ActingClients] = []
            for number in 0..<count { clients.append(try await backend.acting(as: caller(number, project))) }
            return clients
        }

        /// With an unsigned token, as issued by the emulators.
        private static func caller(_ number: Int, _ project: String) -> VerifiedToken {
            let now = Int64(Date().timeIntervalSince1970)
            let issuer = "https://securetoken.google.com/\(project)"
            let claims: JSONObject = [
                "iss": .string(issuer), "aud": .string(project), "sub": .string("u\(number)"),
                "user_id": .string("u\(number)"), "iat": .integer(now), "auth_time": .integer(now),
                "exp": .integer(now + 3600), "firebase": ["sign_in_provider": "password", "identities": [:]],
            ]
            let parts = [["alg": "none", "typ": "JWT"], claims].map {
                Base64.encode(JSON.object($0).bytes(), alphabet: .url)
            }
            return VerifiedToken(
                token: Secret(parts.joined(separator: ".") + "."), provider: .firebase, userID: "u\(number)",
                issuer: issuer, expiresAt: Date(timeIntervalSince1970: Double(now + 3600)))
        }

        /// Makes this many calls, sixteen at once, each in the name of the next caller.
        private static func spread(_ calls: Int, over clients: [ActingClients], _ call: @escaping Call) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<concurrency {
                    group.addTask {
                        for number in stride(from: worker, to: calls, by: concurrency) {
                            try await call(clients[number % clients.count], number)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
#endif
