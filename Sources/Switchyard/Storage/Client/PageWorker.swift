/// Processes the items of each page, several at a time; reads the next page when the current one is done.
struct PageWorker<Item: Sendable>: Sendable {
    private let parallel: Int
    private let body: @Sendable (Item) async throws -> Void

    init(parallel: Int, _ body: @escaping @Sendable (Item) async throws -> Void) {
        self.parallel = max(1, parallel)
        self.body = body
    }

    func run<Pages: AsyncSequence, Items: RandomAccessCollection>(
        _ pages: Pages, _ items: (Pages.Element) -> Items
    ) async throws where Items.Element == Item {
        for try await page in pages { try await work(on: items(page)) }
    }

    func work(on items: some RandomAccessCollection<Item>) async throws {
        guard parallel > 1 else {
            for item in items {
                try Task.checkCancellation()
                try await body(item)
            }
            return
        }
        try await withThrowingTaskGroup(of: Void.self) { [body, parallel] group in
            var left = items[...]
            func begin() -> Bool {
                guard let item = left.popFirst() else { return false }
                group.addTask { try await body(item) }
                return true
            }
            for _ in 0..<parallel where !begin() { break }
            while try await group.next() != nil { _ = begin() }
        }
    }
}
