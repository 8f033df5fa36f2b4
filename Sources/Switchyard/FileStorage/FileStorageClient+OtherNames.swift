public import Foundation

// What other libraries call things. The compiler answers with the call to use; `.ci/names` checks that it does.
//
// No body ever runs: the compiler refuses every call, and as members of an extension these witness no requirement. `.ci/names`
// fails if one of them can be called.

extension FileStorageClient {
    @available(*, unavailable, message: "use put(_:at:)")
    public func putData(_ data: Data, at path: Any? = nil, metadata: Any? = nil) { fatalError() }

    @available(
        *, unavailable, message: "use upload(_:to:) with .file(url), whose transfer has the progress, or put(_:at:)"
    )
    public func putFile(from file: URL, at path: Any? = nil, metadata: Any? = nil) { fatalError() }

    @available(*, unavailable, message: "use data(at:limit:)")
    public func getData(at path: Any? = nil, maxSize: Int64 = 0) -> Data { fatalError() }

    @available(
        *, unavailable, message: "use downloadURL(of:), or downloadURL(of:expiresIn:) to choose how long it is valid"
    )
    public func downloadURL() -> URL { fatalError() }
}
