-- Accounts and sessions, with the vendor's names for tables and columns: foreign keys, triggers, policies and scripts that
-- fill a database find here what they find there.

create table if not exists auth.users (
  id                          uuid primary key default gen_random_uuid(),
  instance_id                 uuid,
  aud                         text not null default 'authenticated',
  role                        text not null default 'authenticated',
  email                       text,
  encrypted_password          text,
  email_confirmed_at          timestamptz,
  invited_at                  timestamptz,
  confirmation_sent_at        timestamptz,
  recovery_sent_at            timestamptz,
  email_change                text,
  email_change_sent_at        timestamptz,
  email_change_confirm_status smallint not null default 0,
  last_sign_in_at             timestamptz,
  raw_app_meta_data           jsonb not null default '{}',
  raw_user_meta_data          jsonb not null default '{}',
  is_super_admin              boolean,
  created_at                  timestamptz not null default now(),
  updated_at                  timestamptz not null default now(),
  phone                       text unique,
  phone_confirmed_at          timestamptz,
  phone_change                text,
  phone_change_sent_at        timestamptz,
  confirmed_at                timestamptz generated always as (least(email_confirmed_at, phone_confirmed_at)) stored,
  reauthentication_sent_at    timestamptz,
  banned_until                timestamptz,
  is_sso_user                 boolean not null default false,
  deleted_at                  timestamptz,
  is_anonymous                boolean not null default false
);
-- What scripts that fill a database write as well. The service has its codes elsewhere, and looks at none of these.
alter table auth.users
  add column if not exists confirmation_token varchar(255) default '',
  add column if not exists recovery_token varchar(255) default '',
  add column if not exists email_change_token_new varchar(255) default '',
  add column if not exists email_change_token_current varchar(255) default '',
  add column if not exists phone_change_token varchar(255) default '',
  add column if not exists reauthentication_token varchar(255) default '',
  alter column aud drop not null, alter column role drop not null, alter column email_change_confirm_status drop not null,
  alter column raw_app_meta_data drop not null, alter column raw_user_meta_data drop not null,
  alter column created_at drop not null, alter column updated_at drop not null;
create unique index if not exists users_email on auth.users (lower(email)) where not is_sso_user;

create table if not exists auth.identities (
  id              uuid primary key default gen_random_uuid(),
  provider_id     text not null,
  provider        text not null,
  user_id         uuid not null references auth.users on delete cascade,
  identity_data   jsonb not null,
  email           text generated always as (lower(identity_data ->> 'email')) stored,
  last_sign_in_at timestamptz,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  unique (provider, provider_id)
);
alter table auth.identities alter column created_at drop not null, alter column updated_at drop not null;
create index if not exists identities_user on auth.identities (user_id);

create table if not exists auth.sessions (
  id           uuid primary key default gen_random_uuid(),
  user_id      uuid not null references auth.users on delete cascade,
  aal          text not null default 'aal1',
  amr          jsonb not null default '[]',
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  refreshed_at timestamptz
);
alter table auth.sessions
  add column if not exists factor_id uuid, add column if not exists not_after timestamptz,
  add column if not exists user_agent text, add column if not exists ip inet, add column if not exists tag text;
create index if not exists sessions_user on auth.sessions (user_id);

create table if not exists auth.refresh_tokens (
  id         bigint generated always as identity primary key,
  token      text not null unique,
  parent     text,
  user_id    uuid not null references auth.users on delete cascade,
  session_id uuid not null references auth.sessions on delete cascade,
  revoked    boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index if not exists refresh_tokens_session on auth.refresh_tokens (session_id);

-- Codes that were sent; of each kind a person has one.
create table if not exists auth.one_time_tokens (
  id         uuid primary key default gen_random_uuid(),
  user_id    uuid not null references auth.users on delete cascade,
  token_type text not null,
  token_hash text not null,
  relates_to text not null,
  -- Of a sign-in whose link leads to a code for the browser.
  code_challenge        text,
  code_challenge_method text,
  created_at timestamptz not null,
  unique (user_id, token_type)
);
create index if not exists one_time_tokens_hash on auth.one_time_tokens (token_hash);

-- Sign-ins that are on their way through a browser.
create table if not exists auth.flow_state (
  id                    uuid primary key default gen_random_uuid(),
  user_id               uuid references auth.users on delete cascade,
  auth_code             text not null unique,
  code_challenge        text not null,
  code_challenge_method text not null,
  authentication_method text not null,
  provider_access_token text,
  created_at            timestamptz not null
);

create table if not exists auth.audit_log_entries (
  instance_id uuid,
  id          uuid primary key default gen_random_uuid(),
  payload     json,
  created_at  timestamptz default now(),
  ip_address  varchar(64) not null default ''
);
create index if not exists audit_log_entries_time on auth.audit_log_entries (created_at desc);

create table if not exists auth.mfa_factors (
  id            uuid primary key default gen_random_uuid(),
  user_id       uuid not null references auth.users on delete cascade,
  friendly_name text,
  factor_type   text not null,
  status        text not null,
  secret        text not null,
  last_step     bigint,
  created_at    timestamptz not null,
  updated_at    timestamptz not null
);
alter table auth.mfa_factors add column if not exists last_challenged_at timestamptz;
create unique index if not exists mfa_factors_name on auth.mfa_factors (user_id, friendly_name)
  where trim(friendly_name) <> '';

create table if not exists auth.mfa_challenges (
  id          uuid primary key default gen_random_uuid(),
  factor_id   uuid not null references auth.mfa_factors on delete cascade,
  created_at  timestamptz not null,
  verified_at timestamptz
);

do $$
declare
  each_ regclass;
begin
  -- Nobody but the service itself, whatever a project's own script may have granted to everybody.
  for each_ in select c.oid::regclass from pg_class c where c.relnamespace = 'auth'::regnamespace and c.relkind = 'r' loop
    execute format('alter table %s enable row level security', each_);
    execute format('revoke all on table %s from public, anon, authenticated', each_);
    execute format('grant all on table %s to service_role', each_);
  end loop;
end $$;
