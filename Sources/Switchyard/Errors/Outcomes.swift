extension Array where Element: Sendable {
    /// Makes one call for each element, `width` at a time. After the caller is cancelled, no more calls begin, and the rest
    /// are `.cancelled`.
    ///
    /// - Returns: The outcome for each, in the order of the elements.
    package func outcomes<Value: Sendable, Failure: ClientError>(
        atOnce width: Int, _ body: @escaping @Sendable (Element) async throws(Failure) -> Value
    ) async -> [Result<Value, Failure>] {
        let results = await withTaskGroup(of: (Int, Result<Value, Failure>).self) { group in
            var results: [Int: Result<Value, Failure>] = [:]
            for (index, element) in enumerated() where !Task.isCancelled {
                if index >= width, let (done, result) = await group.next() { results[done] = result }
                group.addTask {
                    do throws(Failure) { return (index, .success(try await body(element))) } catch {
                        return (index, .failure(error))
                    }
                }
            }
            for await (done, result) in group { results[done] = result }
            return results
        }
        return indices.map { results[$0] ?? .failure(Failure(.cancelled, "The call was cancelled.")) }
    }
}
