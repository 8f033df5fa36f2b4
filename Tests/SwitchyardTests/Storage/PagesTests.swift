import Switchyard
import Synchronization
import Testing

@Suite struct PagesTests {
    static func storage(_ count: Int) -> ToyStorage {
        ToyStorage(
            Dictionary(
                uniqueKeysWithValues: (0..<count).map {
                    (StoragePath(unchecked: "c/\($0 + 100)"), ["n": .integer(Int64($0 % 3)), "m": 0])
                }))
    }

    static func read(_ pages: DocumentPages) async throws(StorageError) -> [[String]] {
        var result: [[String]] = []
        for try await page in pages { result.append(page.documents.map(\.id)) }
        return result
    }

    @Test(arguments: [(0, 3), (1, 3), (3, 3), (7, 3), (9, 3), (10, 100)])
    func `Pages cover the result without gaps or repetitions`(count: Int, size: Int) async throws {
        let storage = Self.storage(count)
        let query = Query(in: "c").ordered(by: "n", .descending)
        let pages = try await Self.read(storage.pages(of: query, size: size))
        #expect(pages.flatMap(\.self) == (try await storage.documents(query)).documents.map(\.id))
        #expect(pages.count == max(1, (count + size - 1) / size))
        #expect(pages.dropLast().allSatisfy { $0.count == size })
    }

    @Test func `Limit, offset and projection hold for the whole`() async throws {
        let storage = Self.storage(10)
        let query = Query(in: "c").skipping(2).limited(to: 5).selecting("m")
        #expect(try await Self.read(storage.pages(of: query, size: 2)) == [["102", "103"], ["104", "105"], ["106"]])
        #expect(storage.queries.map(\.offset) == [2, 0, 0])
        #expect(storage.queries.map(\.limit?.count) == [2, 2, 1])
    }

    @Test func `What cannot be paged is refused, and a failed page can be tried again`() async throws {
        let storage = Self.storage(5)
        let ordered = Query(in: "c").ordered(by: "n")
        for pages in [
            storage.pages(of: Query(in: "c"), size: 0), storage.pages(of: ordered.limited(toLast: 2), size: 1),
            storage.pages(of: ordered.selecting("m"), size: 1),
        ] {
            let error = await #expect(throws: StorageError.self) { try await Self.read(pages) }
            #expect(error?.code == .invalidArgument)
        }
        var pages = storage.pages(of: Query(in: "c"), size: 3).makeAsyncIterator()
        #expect(try await pages.next()?.count == 3)
        storage.fail(StorageError(.unavailable, ""))
        await #expect(throws: StorageError.self) { try await pages.next() }
        #expect(try await pages.next()?.documents.map(\.id) == ["103", "104"])
        #expect(try await pages.next() == nil)
    }

    @Test func `A recursive deletion takes everything below and nothing beside, in bounded batches`() async throws {
        var documents: [StoragePath: DocumentData] = [
            "users/a": [:], "users/ab": [:], "users/ab/x/1": [:], "other/a": [:],
        ]
        for index in 0..<450 { documents[StoragePath(unchecked: "users/a/logs/\(index)")] = [:] }
        documents["users/a/logs/1/parts/1"] = [:]
        documents["users/a/notes/1/parts/1/bits/1"] = [:]
        documents["users/a/notes/1"] = [:]
        documents["users/a/notes/1/parts/1"] = [:]
        let storage = ToyStorage(documents)
        let steps = Mutex<[Int]>([])
        let deleted = try await storage.deleteRecursively("users/a" as StoragePath) { count in
            steps.withLock { $0.append(count) }
        }
        #expect(deleted == 455)
        #expect(storage.paths == ["other/a", "users/ab", "users/ab/x/1"])
        #expect(steps.withLock { $0 } == [200, 400, 455])
        #expect(storage.commits.allSatisfy { $0.count <= 200 })
        #expect(storage.commits.last?.writes.last?.path == "users/a", "the root goes last")
        #expect(try await storage.deleteRecursively("users" as CollectionPath) == 2)
        #expect(storage.paths == ["other/a"])
    }

    @Test func `A recursive deletion stops when it is cancelled, and is refused where it is not declared`() async throws
    {
        let storage = Self.storage(3)
        let task = Task { () async throws(StorageError) -> Int in
            await Task.yield()
            withUnsafeCurrentTask { $0?.cancel() }
            return try await storage.deleteRecursively("c" as CollectionPath)
        }
        let result = await task.result
        #expect(throws: StorageError.self) { try result.get() }
        #expect(storage.paths.count == 3)
        let plain = ToyStorage(capabilities: StorageCapabilities())
        let error = await #expect(throws: StorageError.self) { try await plain.deleteRecursively("a/b" as StoragePath) }
        #expect(error?.code == .unsupported && error?.message.contains("toy") == true)
    }

    @Test func `Small questions have small answers`() async throws {
        let storage = Self.storage(4)
        #expect(try await storage.exists("c/100"))
        #expect(try await !storage.exists("c/x"))
        #expect(try await storage.first(of: Query(in: "c").ordered(by: "n", .descending))?["n"] == 2)
        #expect(try await storage.first(of: Query(in: "none")) == nil)
        #expect(try await storage.count(Query(in: "c")) == 4)
        #expect(try await storage.sum(of: "n", in: Query(in: "c")) == 3)
        #expect(try await storage.average(of: "n", in: Query(in: "c")) == 0.75)
        #expect(try await storage.average(of: "n", in: Query(in: "none")) == nil)
        #expect(try await storage.collections() == ["c"])
    }
}
