#if os(Linux)
    import Switchyard
    import SwitchyardFirebase
    import SwitchyardWire

    /// Large results, decoded into structs, compared with the bare download of the same answer; and the memory used.
    struct FirestoreQuerySection: BenchSection {
        let name = "firestore-queries"

        struct Person: Codable, Sendable {
            var name: String
            var age: Int
            var isActive: Bool
            var score: Double
            var tags: [String]
            var address: Address

            struct Address: Codable, Sendable {
                var street: String
                var city: String
            }
        }

        func run(_ bench: Bench) async throws {
            let site = try await FirestoreBenchSite.start()
            defer { site.stop() }
            let client = try await site.client()
            for (size, memory) in [(1_000, 4.0), (10_000, 1.5)] {
                let collection = CollectionPath(unchecked: "people\(size)")
                try await seed(client, collection, size)
                let body = site.queryBody(collection.id)
                let bytes = try await answerSize(site, body)
                let results = try await BenchComparison(rounds: bench.settings.count(9, quick: 1), warmUps: 3).run([
                    .init("blocking libcurl") { try await BlockingCurl.posts(site.url("runQuery"), body, count: 1) },
                    .init("switchyard") { try await read(client, collection, size) },
                ])
                await bench.report("\(size) documents, size of the answer", Double(bytes) / 1e6, "MB")
                for result in results {
                    await bench.report("\(size) documents, \(result.name)", result.seconds * 1e3, "ms")
                }
                await bench.report(
                    "\(size) documents, time over the bare download",
                    (results[1].seconds / results[0].seconds - 1) * 100, "%", .atMost(25))
                let growth = try await bench.inChild(
                    "memory \(site.port) \(site.project) \(size)", rounds: bench.settings.count(3, quick: 1))
                await bench.report(
                    "\(size) documents, memory, times the answer", growth / Double(bytes), "×", .atMost(memory))
            }
            await client.shutDown()
        }

        func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
            let words = task.split(separator: " ").map(String.init)
            guard words.count == 4, words[0] == "memory", let port = Int(words[1]), let size = Int(words[3]) else {
                throw BenchFailure("no such task")
            }
            let client = try await FirestoreBenchSite(port: port, project: words[2]).client()
            // A small read first, so that everything loaded once is loaded.
            _ = try await client.document(
                CollectionPath(unchecked: "people\(size)").document("none"), from: .server)
            let before = Usage.peakResidentBytes
            let people = try await read(client, CollectionPath(unchecked: "people\(size)"), size)
            let growth = Usage.peakResidentBytes - before
            withExtendedLifetime(people) {}
            await client.shutDown()
            return Double(growth)
        }

        private func read(_ client: any StorageClient, _ collection: CollectionPath, _ size: Int) async throws
            -> [Person]
        {
            let people = try await client.documents(Query(in: collection), from: .server).decoded(as: Person.self)
            guard people.count == size else { throw BenchFailure("a wrong answer") }
            return people
        }

        private func seed(_ client: any StorageClient, _ collection: CollectionPath, _ size: Int) async throws {
            for start in stride(from: 0, to: size, by: 500) {
                var batch = WriteBatch()
                for number in start..<start + 500 {
                    batch.append(
                        try DocumentWrite.set(
                            collection.document("person\(number)"),
                            [
                                "name": "Person \(number)", "age": .of(20 + number % 60), "isActive": true,
                                "score": .of(Double(number) / 7), "tags": ["red", "green", "blue"],
                                "address": ["street": "Lange Straße \(number)", "city": "Köln"],
                            ]))
                }
                try await client.commit(batch).acknowledged()
            }
        }

        private func answerSize(_ site: FirestoreBenchSite, _ body: [UInt8]) async throws -> Int {
            let transport = CurlTransport()
            var request = HTTPRequest(.post, site.url("runQuery"), body: body)
            request.headers["Content-Type"] = "application/json"
            let size = try await transport.send(request).body.count
            await transport.shutDown()
            return size
        }
    }
#endif
