#if os(Linux)
    import Foundation
    import Switchyard
    import SwitchyardFirebase
    import SwitchyardLocalFirebase
    import SwitchyardMove
    import SwitchyardServerKit

    /// A whole move from one local Firebase to another, compared with a bare export and a bare import: loops that read everything
    /// into files and write it from there, without a journal, a hash or a comparison. Every step is a process of its own.
    ///
    /// Then the same move, killed again and again, whose ends are compared. `SWITCHYARD_PROOF=1` makes all of it 200 000 documents
    /// and 5 GB.
    struct CopySection: BenchSection {
        let name = "copy"
        private static let isProof = ProcessInfo.processInfo.environment["SWITCHYARD_PROOF"] == "1"
        private static let fileSize = 2_000_000
        private static let parallel = 8

        private static func sizes(_ settings: BenchSettings) -> (documents: Int, files: Int) {
            isProof ? (200_000, 2_500) : (settings.count(20_000, quick: 500), settings.count(100, quick: 4))
        }

        func run(_ bench: Bench) async throws {
            let (documents, files) = Self.sizes(bench.settings)
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("bench-copy-\(UInt64.random(in: 0 ... .max))", isDirectory: true)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let source = try ChildServer(area: bench.area, section: name, bench.settings)
            defer { source.stop() }
            _ = try await bench.inChild("fill \(source.port)")
            var (bare, moves, growths): ([Double], [Double], [Double]) = ([], [], [])
            for round in 0..<(Self.isProof ? 1 : bench.settings.count(3, quick: 1)) {
                let first = try ChildServer(area: bench.area, section: name, bench.settings)
                let exported = folder.appendingPathComponent("bare-\(round)", isDirectory: true)
                let export = try await bench.inChild("export \(source.port) \(exported.path)")
                let load = try await bench.inChild("import \(first.port) \(exported.path)")
                first.stop()
                try FileManager.default.removeItem(at: exported)
                let second = try ChildServer(area: bench.area, section: name, bench.settings)
                let journal = folder.appendingPathComponent("journal-\(round)", isDirectory: true)
                moves.append(try await bench.inChild("move \(source.port) \(second.port) \(journal.path)"))
                bare.append(export + load)
                if round == 0 {
                    let again = folder.appendingPathComponent("memory", isDirectory: true)
                    growths.append(try await bench.inChild("memory \(source.port) \(second.port) \(again.path)"))
                }
                second.stop()
            }
            let kills = try await killed(bench, from: source, in: folder, taking: Statistics.median(moves))
            let what = "\(documents) documents and \(files * Self.fileSize / 1_000_000) MB"
            await bench.report("\(what), bare export and import", Statistics.median(bare), "s")
            await bench.report("\(what), a move", Statistics.median(moves), "s")
            await bench.report(
                "\(what), time of a move, times bare export and import",
                Statistics.median(moves) / Statistics.median(bare), "×", .atMost(1.3))
            await bench.report(
                "\(what), resident growth of a move", Statistics.median(growths) / 1_048_576, "MB", .atMost(96))
            await bench.report("\(what), how often a move was killed", Double(kills.count), "")
            await bench.report("\(what), what differs after that", kills.differences, "", .atMost(0))
        }

        /// A move whose process is killed wherever it is, and begun again, until it has ended by itself.
        private func killed(
            _ bench: Bench, from source: ChildServer, in folder: URL, taking seconds: Double
        ) async throws -> (count: Int, differences: Double) {
            let target = try ChildServer(area: bench.area, section: name, bench.settings)
            defer { target.stop() }
            let task =
                "move \(source.port) \(target.port) \(folder.appendingPathComponent("killed", isDirectory: true).path)"
            let kills = bench.settings.count(50, quick: 5)
            var count = 0
            for _ in 0..<kills {
                let process = try ChildProcess.start(task, area: bench.area, section: name, bench.settings)
                // Together they come to about the time that the move takes. Not a wait for anything.
                try await Task.sleep(for: .seconds(Double.random(in: 0.02...max(0.04, seconds * 2 / Double(kills)))))
                if process.send(SIGKILL) { count += 1 }
                _ = try await process.end()
            }
            _ = try await bench.inChild(task)
            return (count, try await bench.inChild("compare \(source.port) \(target.port)"))
        }

        func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
            let words = task.split(separator: " ").map(String.init)
            switch (words.first, words.count) {
            case ("serve", 1): return try await Self.serve()
            case ("fill", 2): return try await Self.onBackend(words[1]) { try await Self.fill($0, settings) }
            case ("export", 3):
                let folder = URL(fileURLWithPath: words[2], isDirectory: true)
                return try await Self.onBackend(words[1]) { try await Self.export($0, to: folder) }
            case ("import", 3):
                let folder = URL(fileURLWithPath: words[2], isDirectory: true)
                return try await Self.onBackend(words[1]) { try await Self.load(folder, into: $0) }
            case ("compare", 3):
                return try await Self.onBackend(words[1]) { source in
                    try await Self.onBackend(words[2]) { target in
                        let move = Move(from: try await BackendEnd(source), to: try await BackendEnd(target))
                        return Double(try await move.verify(try await move.plan()).differences.count)
                    }
                }
            case ("move", 4), ("memory", 4):
                let journal = URL(fileURLWithPath: words[3], isDirectory: true)
                return try await Self.onBackend(words[1]) { source in
                    try await Self.onBackend(words[2]) { target in
                        try await Self.move(source, target, journal, settings, isMemory: words[0] == "memory")
                    }
                }
            default: throw BenchFailure("no such task")
            }
        }

        // MARK: Servers

        private static func serve() async throws -> Double {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("bench-copy-server-\(UInt64.random(in: 0 ... .max))", isDirectory: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            var options = LocalFirebaseOptions()
            options.allowsEverything = true
            options.folder = folder
            try await ChildServer.serve(try LocalFirebase(options))
            return 0
        }

        private static func onBackend(
            _ port: String, _ body: (Infrastructure) async throws -> Double
        ) async throws -> Double {
            var firebase = FirebaseConfiguration(project: "demo-switchyard", apiKey: "any", bucket: "files")
            firebase.usesEmulatorVariables = false
            let host = "127.0.0.1:\(port)"
            firebase.emulators = .init(firestore: host, auth: host, storage: host)
            let backend = try await Infrastructure(FirebaseModule(firebase))
            let result = try await body(backend)
            await backend.shutDown()
            return result
        }

        private static func timed(_ body: () async throws -> Void) async throws -> Double {
            let start = ContinuousClock.now
            try await body()
            return start.duration(to: .now) / .seconds(1)
        }

        private static func fill(_ backend: Infrastructure, _ settings: BenchSettings) async throws -> Double {
            let (documents, files) = sizes(settings)
            let project = try await backend.actingAsProject()
            return try await timed {
                let report = try await project.storage.writeInBulk(
                    (0..<documents).lazy.map { number in
                        write(number, text: String(repeating: "x", count: number % 200))
                    })
                guard report.failed == 0 else { throw BenchFailure("\(report)") }
                var random = SystemRandomNumberGenerator()
                for number in 0..<files {
                    var bytes = Data(count: fileSize)
                    bytes.withUnsafeMutableBytes { buffer in
                        for index in stride(from: 0, to: fileSize - 8, by: 8) {
                            buffer.storeBytes(of: random.next(), toByteOffset: index, as: UInt64.self)
                        }
                    }
                    try await project.files.put(bytes, at: FilePath(unchecked: "photos/\(number).bin"))
                }
            }
        }

        private static func write(_ number: Int, text: String) -> DocumentWrite {
            DocumentWrite(
                path: StoragePath(unchecked: "\(number % 2 == 0 ? "things" : "orders")/d\(number)"),
                operation: .set(["n": .integer(Int64(number)), "text": .string(text)]))
        }

        // MARK: By hand

        private static func export(_ backend: Infrastructure, to folder: URL) async throws -> Double {
            let project = try await backend.actingAsProject()
            return try await timed {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                for collection in ["things", "orders"] {
                    let file = folder.appendingPathComponent("\(collection).txt")
                    try Data().write(to: file)
                    let lines = LineWriter(try FileHandle(forWritingTo: file))
                    try await project.storage.forEachDocument(Query(in: CollectionPath(unchecked: collection))) {
                        guard case .integer(let number)? = $0["n"], case .string(let text)? = $0["text"] else {
                            throw BenchFailure("a wrong document")
                        }
                        try await lines.append("\(number)\t\(text)\n")
                    }
                    try await lines.close()
                }
                var page: String?
                repeat {
                    let list = try await project.files.list("photos", pageSize: 500, page: page)
                    try await eight(list.files) { file in
                        let local = folder.appendingPathComponent(file.path.name)
                        _ = try await project.files.download(file.path, to: local).result()
                    }
                    page = list.nextPage
                } while page != nil
            }
        }

        private static func load(_ folder: URL, into backend: Infrastructure) async throws -> Double {
            let project = try await backend.actingAsProject()
            return try await timed {
                for collection in ["things", "orders"] {
                    let text = try String(
                        contentsOf: folder.appendingPathComponent("\(collection).txt"), encoding: .utf8)
                    let report = try await project.storage.writeInBulk(
                        text.split(separator: "\n").lazy.map { line in
                            let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
                            return write(Int(parts[0]) ?? 0, text: String(parts[1]))
                        })
                    guard report.failed == 0 else { throw BenchFailure("\(report)") }
                }
                let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                try await eight(files.filter { $0.pathExtension == "bin" }) { file in
                    let path = FilePath(unchecked: "photos/\(file.lastPathComponent)")
                    _ = try await project.files.upload(.file(file), to: path).result()
                }
            }
        }

        /// As many at the same time as a move does.
        private static func eight<Element: Sendable>(
            _ all: [Element], _ body: @escaping @Sendable (Element) async throws -> Void
        ) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, element) in all.enumerated() {
                    if index >= parallel { try await group.next() }
                    group.addTask { try await body(element) }
                }
                try await group.waitForAll()
            }
        }

        private actor LineWriter {
            private let handle: FileHandle
            private var waiting = Data()

            init(_ handle: FileHandle) { self.handle = handle }

            func append(_ line: String) throws {
                waiting.append(contentsOf: line.utf8)
                if waiting.count > 1 << 16 { try flush() }
            }

            func close() throws {
                try flush()
                try handle.close()
            }

            private func flush() throws {
                try handle.write(contentsOf: waiting)
                waiting.removeAll(keepingCapacity: true)
            }
        }

        // MARK: By a move

        private static func move(
            _ source: Infrastructure, _ target: Infrastructure, _ journal: URL, _ settings: BenchSettings,
            isMemory: Bool
        ) async throws -> Double {
            let move = Move(
                from: try await BackendEnd(source, name: "old"), to: try await BackendEnd(target, name: "new"))
            let plan = try await move.plan()
            let before = Usage.peakResidentBytes
            var result: MoveReport?
            let seconds = try await timed { result = try await move.run(plan, journal: journal).result() }
            let (documents, files) = sizes(settings)
            // A move that goes on counts what it has done itself.
            guard let result, result.rejections.isEmpty, result.documents <= documents, result.files <= files else {
                throw BenchFailure("\(String(describing: result))")
            }
            return isMemory ? Double(Usage.peakResidentBytes - before) : seconds
        }
    }
#endif
