package import Switchyard

/// Records that a bundle was loaded, so that it is not loaded again.
package struct BundleRecord: Sendable, Equatable {
    package let id: String
    package let version: Int
    package let createTime: Timestamp

    package init(id: String, version: Int, createTime: Timestamp) {
        self.id = id
        self.version = version
        self.createTime = createTime
    }
}

/// A named query of a bundle.
package struct NamedQueryRecord: Sendable, Equatable {
    package let name: String
    package let query: Query
    package let readTime: Timestamp

    package init(name: String, query: Query, readTime: Timestamp) {
        self.name = name
        self.query = query
        self.readTime = readTime
    }
}
