#if os(Linux)
    import Foundation
    import Switchyard
    import SwitchyardBytes
    import SwitchyardProviderKit
    import SwitchyardSupabase
    import SwitchyardTestSupport
    import SwitchyardWire

    /// What the client itself spends on a call, with answers from memory: neither the network nor a server is measured.
    struct SupabaseClientSection: BenchSection {
        let name = "client"

        private typealias Row = JSONCodingBench.Row

        func run(_ bench: Bench) async throws {
            let texts = try JSONCodingBench.rows(1_000).enumerated().map { try Self.row($0, $1) }
            let rows = Array("[\(texts.joined(separator: ","))]".utf8)
            let storage = try await Self.storage(rows)
            try await calls(bench, storage)
            try await lists(bench, storage, rows)
            await storage.shutDown()
        }

        private func calls(_ bench: Bench, _ storage: any StorageClient) async throws {
            let count = bench.settings.count(2_000, quick: 64)
            let page = Query(in: "page").ordered(by: "number").limited(to: 20)
            let results = try await BenchComparison(rounds: bench.settings.count(9, quick: 1), warmUps: 2).run([
                .init("get") {
                    for _ in 0..<count {
                        guard try await storage.document("things/t7", from: .server).exists else {
                            throw BenchFailure("a row is missing")
                        }
                    }
                },
                .init("set") {
                    for _ in 0..<count {
                        let receipt = try await storage.setDocument("things/t7", ["number": 7, "title": "A title"])
                        try await receipt.acknowledged()
                    }
                },
                .init("page of 20") {
                    for _ in 0..<count {
                        guard try await storage.documents(page, from: .server).documents.count == 20 else {
                            throw BenchFailure("a wrong answer")
                        }
                    }
                },
            ])
            for result in results {
                await bench.report("\(result.name), processor time", result.cpuSeconds / Double(count) * 1e6, "µs")
            }
        }

        private func lists(_ bench: Bench, _ storage: any StorageClient, _ text: [UInt8]) async throws {
            let repeats = bench.settings.count(20, quick: 1)
            let people = storage.collection("bench", of: Row.self)
            let results = try await BenchComparison(rounds: bench.settings.count(11, quick: 1), warmUps: 2).run([
                .init("decoding") {
                    for _ in 0..<repeats {
                        guard try JSONBytesDecoder().decode([Row].self, from: text).count == 1_000 else {
                            throw BenchFailure("a wrong answer")
                        }
                    }
                },
                .init("typed") {
                    for _ in 0..<repeats {
                        let rows = try await people.documents(from: .server).map { $0 }
                        guard rows.count == 1_000 else { throw BenchFailure("a wrong answer") }
                    }
                },
                .init("documents") {
                    for _ in 0..<repeats {
                        guard try await people.asDocuments.documents(from: .server).documents.count == 1_000 else {
                            throw BenchFailure("a wrong answer")
                        }
                    }
                },
            ])
            for result in results {
                await bench.report(
                    "1000 rows, \(result.name), processor time", result.cpuSeconds / Double(repeats) * 1e3, "ms")
            }
            await bench.report(
                "1000 rows, typed ÷ decoding", results[1].cpuSeconds / results[0].cpuSeconds, "×", .atMost(1.3))
        }

        // MARK: The answers

        /// A row as the data service writes it: with all columns, also those that are null.
        private static func row(_ number: Int, _ row: Row) throws -> String {
            var text = String(decoding: try JSONBytesEncoder().encode(row), as: UTF8.self)
            if row.team == nil { text = text.replacingOccurrences(of: #""tags":"#, with: #""team":null,"tags":"#) }
            return #"{"number":\#(number),\#(text.dropFirst().dropLast()),"xmin":"\#(70_000 + number)"}"#
        }

        private static func storage(_ rows: [UInt8]) async throws -> any StorageClient {
            let thing = HTTPResponse.text(#"[{"id":"t7","number":7,"title":"A title","xmin":"743"}]"#)
            let page = HTTPResponse.text(
                "["
                    + (0..<20).map { #"{"id":\#($0),"number":\#($0),"title":"Number \#($0)","xmin":"743"}"# }
                    .joined(separator: ",") + "]")
            let all = HTTPResponse(status: 200, headers: ["Content-Range": "0-999/1000"], body: rows)
            var configuration = SupabaseConfiguration(url: "http://127.0.0.1:1", key: Secret("key"))
            configuration.tables = [
                SupabaseTableMapping(collection: "things", table: "things", columns: ["number", "title"]),
                SupabaseTableMapping(collection: "page", table: "page", columns: ["number", "title"]),
                {
                    var mapping = SupabaseTableMapping(
                        collection: "bench", table: "bench", columns: SupabaseTablesSection.rowColumns)
                    mapping.idColumn = "number"
                    return mapping
                }(),
            ]
            let base = "http://127.0.0.1:1/rest/v1/"
            let module = SupabaseModule(configuration) {
                AnsweringTransport { request in
                    let asked = request.url.utf8.dropFirst(base.utf8.count)
                    if asked.starts(with: "things".utf8) { return thing }
                    if asked.starts(with: "page".utf8) { return page }
                    if asked.starts(with: "bench".utf8) { return all }
                    return .text(#"{"swagger":"2.0","definitions":\#(definitions)}"#)
                }
            }
            return try await module.makeStorageClient(ModuleContext())
        }

        /// What the service says of the tables.
        private static let definitions: String = {
            func table(_ columns: [(String, String)]) -> String {
                let properties = columns.map { #""\#($0.0)":{"format":"\#($0.1)","type":"string"}"# }
                return #"{"properties":{\#(properties.joined(separator: ","))}}"#
            }
            let (text, number) = ("text", "integer")
            let thing = table([("id", text), ("number", number), ("title", text)])
            let bench = table([
                ("number", number), ("id", "uuid"), ("createdAt", "timestamp with time zone"),
                ("updatedAt", "timestamp with time zone"), ("name", text), ("email", text), ("age", number),
                ("score", "double precision"), ("isActive", "boolean"), ("team", text), ("tags", "text[]"),
                ("note", text),
            ])
            return #"{"things":\#(thing),"page":\#(thing),"bench":\#(bench)}"#
        }()
    }
#endif
