/// Runs independent pieces of one test a few at a time; what they return comes in the order of `items`.
///
/// For pieces that mostly wait: as children of the test's task they report to it.
package func sideBySide<Item: Sendable, Value: Sendable>(
    _ items: [Item], width: Int = 4, _ body: @escaping @Sendable (Item) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: (Int, Value).self) { group in
        var values: [Int: Value] = [:]
        for (index, item) in items.enumerated() {
            if index >= width, let (done, value) = try await group.next() { values[done] = value }
            group.addTask { (index, try await body(item)) }
        }
        for try await (done, value) in group { values[done] = value }
        return items.indices.compactMap { values[$0] }
    }
}
