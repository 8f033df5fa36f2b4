extension Duration {
    /// A setting that is a number of seconds in a file.
    package static func settings<Key: CodingKey>(
        seconds: Double, in range: ClosedRange<Double>, forKey key: Key, of values: KeyedDecodingContainer<Key>
    ) throws -> Duration {
        guard range.contains(seconds) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: values,
                debugDescription: "a number of seconds from \(range.lowerBound) to \(range.upperBound)")
        }
        return .milliseconds(Int64((seconds * 1000).rounded()))
    }
}
