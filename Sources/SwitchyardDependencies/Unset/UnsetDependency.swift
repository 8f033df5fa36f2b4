import Switchyard

/// What to say when a dependency is used that nobody set.
enum UnsetDependency {
    static let code = "dependencyNotSet"

    static func message(_ dependency: String, _ operation: String) -> String {
        "“\(operation)” was called on the dependency “\(dependency)”, which nobody set. "
            + "Set it around the call: withDependencies { $0.\(dependency) = … } operation: { … }."
    }
}

extension StorageError {
    static func unset(_ operation: String) -> StorageError {
        StorageError(Code(rawValue: UnsetDependency.code), UnsetDependency.message("storageClient", operation))
    }
}

extension AuthError {
    static func unset(_ operation: String) -> AuthError {
        AuthError(Code(rawValue: UnsetDependency.code), UnsetDependency.message("authClient", operation))
    }
}

extension FileStorageError {
    static func unset(_ operation: String) -> FileStorageError {
        FileStorageError(Code(rawValue: UnsetDependency.code), UnsetDependency.message("fileStorageClient", operation))
    }
}

extension MessagingError {
    static func unset(_ operation: String) -> MessagingError {
        MessagingError(Code(rawValue: UnsetDependency.code), UnsetDependency.message("messagingClient", operation))
    }
}

extension DomainError {
    static func unset(_ dependency: String, _ operation: String) -> DomainError {
        DomainError(Code(rawValue: UnsetDependency.code), UnsetDependency.message(dependency, operation))
    }
}
