import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// The routes of the auth service.
extension LocalSupabaseAuth {
    package func addRoutes(to router: inout Router) {
        add(.post, "/signup", body: .signUp, to: &router) { call throws(AuthRefusal) in try await self.signUp(call) }
        add(.post, "/token", to: &router) { call throws(AuthRefusal) in try await self.token(call) }
        add(.post, "/otp", body: .signInCode, to: &router) { call throws(AuthRefusal) in
            try await self.sendSignInCode(call)
        }
        add(.post, "/magiclink", body: .magicLink, to: &router) { call throws(AuthRefusal) in
            try await self.sendMagicLink(call)
        }
        add(.post, "/verify", body: .verify, to: &router) { call throws(AuthRefusal) in try await self.verify(call) }
        add(.get, "/verify", isOpen: true, to: &router) { call throws(AuthRefusal) in try await self.follow(call) }
        add(.post, "/recover", body: .recover, to: &router) { call throws(AuthRefusal) in try await self.recover(call) }
        add(.post, "/resend", body: .resend, to: &router) { call throws(AuthRefusal) in try await self.resend(call) }
        add(.get, "/user", to: &router) { call throws(AuthRefusal) in try await self.user(call) }
        add(.put, "/user", body: .user, to: &router) { call throws(AuthRefusal) in try await self.update(call) }
        add(.get, "/reauthenticate", to: &router) { call throws(AuthRefusal) in try await self.reauthenticate(call) }
        add(.post, "/logout", to: &router) { call throws(AuthRefusal) in try await self.logOut(call) }
        add(.get, "/user/identities/authorize", to: &router) { call throws(AuthRefusal) in
            try await self.authorizeLink(call)
        }
        add(.delete, "/user/identities/{identity}", to: &router) { call throws(AuthRefusal) in
            try await self.unlink(call)
        }
        add(.post, "/factors", body: .factor, to: &router) { call throws(AuthRefusal) in try await self.enrol(call) }
        add(.post, "/factors/{factor}/challenge", to: &router) { call throws(AuthRefusal) in
            try await self.challenge(call)
        }
        add(.post, "/factors/{factor}/verify", body: .factorCode, to: &router) { call throws(AuthRefusal) in
            try await self.verifyFactor(call)
        }
        add(.delete, "/factors/{factor}", to: &router) { call throws(AuthRefusal) in try await self.unenrol(call) }
        add(.get, "/authorize", isOpen: true, to: &router) { call throws(AuthRefusal) in try await self.authorize(call)
        }
        add(.get, "/callback", isOpen: true, to: &router) { call throws(AuthRefusal) in try await self.callback(call) }
        addAdminRoutes(to: &router)
        addOpenRoutes(to: &router)
        addDisabledRoutes(to: &router)
        router.on(nil, "/auth/v1/{rest...}") { _ in .text("404 page not found\n", status: 404) }
    }

    private func addAdminRoutes(to router: inout Router) {
        admin(.get, "/admin/users", to: &router) { call throws(AuthRefusal) in try await self.listPeople(call) }
        admin(.post, "/admin/users", body: .administered, to: &router) { call throws(AuthRefusal) in
            try await self.createPerson(call)
        }
        admin(.get, "/admin/users/{id}", to: &router) { call throws(AuthRefusal) in try await self.person(call) }
        admin(.put, "/admin/users/{id}", body: .administered, to: &router) { call throws(AuthRefusal) in
            try await self.updatePerson(call)
        }
        admin(.delete, "/admin/users/{id}", body: .deletion, to: &router) { call throws(AuthRefusal) in
            try await self.deletePerson(call)
        }
        admin(.post, "/admin/generate_link", body: .link, to: &router) { call throws(AuthRefusal) in
            try await self.generateLink(call)
        }
        admin(.get, "/admin/users/{id}/factors", to: &router) { call throws(AuthRefusal) in
            try await self.listFactors(call)
        }
        admin(.delete, "/admin/users/{id}/factors/{factor}", to: &router) { call throws(AuthRefusal) in
            try await self.deleteFactor(call)
        }
        admin(.get, "/admin/audit", to: &router) { call throws(AuthRefusal) in try await self.listAudit(call) }
        admin(.get, "/admin/sso/providers", to: &router) { _ throws(AuthRefusal) in Self.ok(["items": []]) }
        admin(.get, "/admin/custom-providers", to: &router) { _ throws(AuthRefusal) in Self.ok(["providers": []]) }
        admin(.post, "/invite", body: .invitation, to: &router) { call throws(AuthRefusal) in
            try await self.invite(call)
        }
    }

    private func addOpenRoutes(to router: inout Router) {
        router.on(.get, "/auth/v1/settings") { _ in Self.ok(settings) }
        router.on(.get, "/auth/v1/health") { _ in
            Self.ok([
                "version": "v2.local", "name": "GoTrue",
                "description": "A local auth service for development and tests",
            ])
        }
        router.on(.get, "/auth/v1/.well-known/jwks.json") { _ in publish(publicKeys) }
        router.on(.get, "/auth/v1/.well-known/openid-configuration") { _ in publish(openIDConfiguration) }
        router.on(.get, "/_supabase/identity") { identify($0) }
        router.on(.get, "/_supabase/sent") { request in
            // Codes are like passwords, so only the project's owner may see them.
            let key = SupabaseAccess.key(of: request) ?? SupabaseAccess.bearer(of: request)
            guard let key, (try? context.access.token(key))?.role == "service_role" else {
                return AuthRefusal.notAdmin.response(for: nil)
            }
            return Self.ok(["sent": .array(outbox.messages(to: request.query("to")).map { .object($0) })])
        }
    }

    /// Parts of the vendor's service that a project has to switch on first.
    private func addDisabledRoutes(to router: inout Router) {
        for path in ["/sso", "/sso/{rest...}"] {
            add(nil, path, to: &router) { _ throws(AuthRefusal) in
                throw .disabled("SAML 2.0 is disabled", "saml_provider_disabled")
            }
        }
        for path in ["/passkeys", "/passkeys/{rest...}"] {
            add(nil, path, to: &router) { call throws(AuthRefusal) in
                _ = try await self.caller(call)
                throw .disabled("Passkeys are disabled", "passkey_disabled")
            }
        }
        for path in ["/oauth/{rest...}", "/.well-known/oauth-authorization-server"] {
            add(nil, path, isOpen: true, to: &router) { _ throws(AuthRefusal) in
                throw .disabled("OAuth server is disabled")
            }
        }
        admin(nil, "/admin/oauth/{rest...}", to: &router) { _ throws(AuthRefusal) in
            throw .disabled("OAuth server is disabled")
        }
        for path in ["/admin/custom-providers", "/admin/custom-providers/{rest...}"] {
            admin(nil, path, to: &router) { _ throws(AuthRefusal) in
                throw .disabled("Custom OAuth providers are disabled")
            }
        }
        for path in ["/admin/sso/providers", "/admin/sso/providers/{rest...}"] {
            admin(nil, path, to: &router) { _ throws(AuthRefusal) in
                throw .disabled("SAML 2.0 is disabled", "saml_provider_disabled")
            }
        }
        // Factors have no list of their own: a user has them.
        add(nil, "/factors", to: &router) { call throws(AuthRefusal) in
            _ = try await self.caller(call)
            return ServerResponse(status: 405)
        }
    }

    private var settings: JSONObject {
        var external: JSONObject = [
            "anonymous_users": .bool(options.allowsAnonymous), "email": true,
            "phone": .bool(options.allowsPhones),
        ]
        for name in Self.known { external[name] = .bool(options.providers.contains(name)) }
        return [
            "external": .object(external), "disable_signup": .bool(!options.allowsSignUp),
            "mailer_autoconfirm": .bool(options.autoconfirmsEmails),
            "phone_autoconfirm": .bool(options.autoconfirmsPhones),
            "sms_provider": "local", "saml_enabled": false, "passkeys_enabled": false,
        ]
    }

    private func add(
        _ method: HTTPMethod?, _ path: String, body: SupabaseAuthBody? = nil, isOpen: Bool = false,
        to router: inout Router, _ handler: @escaping Handler
    ) {
        router.on(method, "/auth/v1" + path) { request in
            await self.answer(request, isOpen: isOpen) { call throws(AuthRefusal) in
                try body?.check(call.fields)
                return try await handler(call)
            }
        }
    }

    private func admin(
        _ method: HTTPMethod?, _ path: String, body: SupabaseAuthBody? = nil, to router: inout Router,
        _ handler: @escaping Handler
    ) {
        add(method, path, to: &router) { call throws(AuthRefusal) in
            try self.requireAdmin(call.request)
            try body?.check(call.fields)
            return try await handler(call)
        }
    }
}
