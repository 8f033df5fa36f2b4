extension JSON {
    /// Parses one complete text: only white space may surround the value.
    package init(parsing text: Span<UInt8>, options: JSONParsingOptions = .init()) throws(JSONError) {
        self = try text.withUnsafeBufferPointer { (bytes) throws(JSONError) in try JSON(bytes, options) }
    }

    package init(parsing text: [UInt8], options: JSONParsingOptions = .init()) throws(JSONError) {
        self = try text.withUnsafeBufferPointer { (bytes) throws(JSONError) in try JSON(bytes, options) }
    }

    /// Parses any other collection of bytes (`Data`, a slice, a buffer, `String.utf8`), without a copy if its storage allows.
    package init(parsing text: some Collection<UInt8>, options: JSONParsingOptions = .init())
        throws(JSONError)
    {
        let inPlace = text.withContiguousStorageIfAvailable { bytes in
            Result { () throws(JSONError) in try JSON(bytes, options) }
        }
        if let inPlace {
            self = try inPlace.get()
        } else {
            try self.init(parsing: [UInt8](text), options: options)
        }
    }

    package init(parsing text: String, options: JSONParsingOptions = .init()) throws(JSONError) {
        try self.init(parsing: text.utf8, options: options)
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>, _ options: JSONParsingOptions) throws(JSONError) {
        var cache = KeyCache()
        try self.init(bytes, options, &cache)
    }

    /// - Parameter cache: Keys of earlier values, and of this one afterwards.
    init(
        _ bytes: UnsafeBufferPointer<UInt8>, _ options: JSONParsingOptions, _ cache: inout KeyCache
    ) throws(JSONError) {
        var builder = JSONBuilder(options, &cache)
        try JSONWalker.walk(bytes, options, telling: &builder)
        self = builder.finish(&cache)
    }
}
