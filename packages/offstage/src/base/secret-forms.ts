// The names and forms of secrets: data for redact.ts. Every pattern takes linear time: no part of it can match the same text in two
// ways, and its lookarounds are bounded.

/** A name is secret if it ends in one of these words: `OPENAI_API_KEY`, `githubToken`, `password1`. */
export const secretNames: readonly string[] = [
  ...["apikey", "apikeys", "accesskey", "accesskeyid", "secretkey", "secretaccesskey", "privatekey", "signingkey"],
  ...["encryptionkey", "masterkey", "accountkey", "servicekey", "servicerolekey", "sharedkey", "storagekey", "authkey"],
  ...["secret", "secrets", "clientsecret", "password", "passwords", "passwd", "passphrase", "passphrases", "passcode"],
  ...["pwd", "pin", "otp", "recoverycode", "recoverycodes", "backupcodes", "seedphrase"],
  ...["token", "authtokens", "accesstokens", "refreshtokens", "apitokens", "bearer", "jwt"],
  ...["authorization", "credential", "credentials", "cookie", "cookies", "setcookie"],
  ...["jsessionid", "phpsessid", "aspsessionid", "connectsid"],
  ...["connectionstring", "databaseurl", "webhookurl", "dsn"],
  ..."db database user root admin smtp mail email ftp ssh mysql pg postgres redis mongo ldap proxy http auth login wifi keystore service app"
    .split(" ")
    .map((owner) => `${owner}pass`),
];

/** A name is also secret if its last word ends in one of these: `PGPASSWORD`, `dbpassword`. */
export const secretEnding: RegExp =
  /(?:passwords?|passwd|passphrase|apikeys?|privatekey|secretkey|(?:access|auth|refresh)token|clientsecret)$/;

/** Keys that providers issue, by their prefix. */
const keyForms: readonly string[] = [
  // OpenAI, Anthropic, OpenRouter, DeepSeek, Langfuse: letters alone may be a package such as sk-learn.
  "sk-(?:(?=[A-Za-z_-]{0,60}\\d)[\\w-]{16,}|[A-Za-z]{16,})",
  // Groq, xAI, Perplexity, NVIDIA, Cerebras, Tavily, Replicate, Fireworks, Together, Hugging Face, Jina, Firecrawl, Pinecone, LangSmith
  ...[
    "gsk_[A-Za-z0-9]{20,}",
    "xai-[A-Za-z0-9]{20,}",
    "pplx-[A-Za-z0-9]{20,}",
    "nvapi-[\\w-]{20,}",
    "csk-[a-z0-9]{30,}",
  ],
  ...["tvly-[\\w-]{20,}", "r8_[A-Za-z0-9]{30,}", "fw_[A-Za-z0-9]{20,}", "tgp_v1_[\\w-]{20,}", "hf_[A-Za-z0-9]{30,}"],
  ...["jina_[A-Za-z0-9]{30,}", "fc-[0-9a-f]{32}", "pcsk_\\w{20,}", "lsv2_(?:pt|sk)_[0-9a-f]{32}"],
  // Amazon and its Bedrock, Google, Azure
  ...[
    "(?:AKIA|ASIA)[A-Z0-9]{16}\\b",
    "ABSK[A-Za-z0-9+/=]{40,}",
    "AIza[\\w-]{35}",
    "ya29\\.[\\w-]{20,}",
    "GOCSPX-[\\w-]{20,}",
  ],
  ...["1//0[\\w-]{20,}", "AQ\\.A[\\w-]{30,}", "[\\w~.]{3}\\dQ~[\\w~.-]{31,34}"],
  // GitHub, GitLab, Bitbucket, Atlassian, npm, PyPI, RubyGems, Docker
  ...[
    "gh[pousr]_[A-Za-z0-9]{20,}",
    "github_pat_\\w{20,}",
    "gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[\\w-]{20,}",
    "ATBB[A-Za-z0-9]{32}",
  ],
  ...[
    "ATATT3[\\w=-]{40,}",
    "npm_[A-Za-z0-9]{36}",
    "pypi-AgE[\\w-]{40,}",
    "rubygems_[0-9a-f]{48}",
    "dckr_[po]at_[\\w-]{20,}",
  ],
  // Stripe, Square, Shopify, Twilio, SendGrid, Mailgun, Resend
  ...["[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}", "whsec_[A-Za-z0-9+/=]{20,}", "sq0(?:atp|csp)-[\\w-]{20,}"],
  ...[
    "shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    "SK[0-9a-f]{32}\\b",
    "SG\\.[\\w-]{16,}\\.[\\w-]{16,}",
    "key-[0-9a-f]{32}\\b",
  ],
  ...["re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}\\b"],
  // Slack, Discord, Telegram
  ...["xox[abeoprs]-[A-Za-z0-9-]{10,}", "xapp-\\d-[A-Za-z0-9-]{10,}", "hooks\\.slack\\.com/services/[A-Za-z0-9/]{20,}"],
  ...[
    "discord(?:app)?\\.com/api/webhooks/\\d{5,25}/[\\w-]{20,}",
    "[MNO][\\w-]{23,27}\\.[\\w-]{6}\\.[\\w-]{27,45}",
    "\\d{8,10}:AA[\\w-]{33}",
  ],
  // Notion, Linear, Figma, Airtable, ElevenLabs
  ...["ntn_[A-Za-z0-9]{40,}", "secret_[A-Za-z0-9]{40,}", "lin_(?:api|oauth)_[A-Za-z0-9]{32,}", "figd_[\\w-]{20,}"],
  ...["pat[A-Za-z0-9]{14}\\.[0-9a-f]{64}", "sk_[0-9a-f]{48}"],
  // Databricks, DigitalOcean, PlanetScale, Supabase, Vault, Terraform, Doppler, Grafana, New Relic, Sentry, PostHog, Netlify, Vercel, Heroku, Mapbox
  ...[
    "dapi[0-9a-f]{32}",
    "do[opr]_v1_[0-9a-f]{64}",
    "pscale_(?:tkn|pw|oauth)_[\\w.-]{30,}",
    "sbp_[0-9a-f]{40}",
    "sb_secret_[\\w-]{20,}",
  ],
  ...["hv[sbr]\\.[\\w-]{20,}", "[A-Za-z0-9]{14}\\.atlasv1\\.[\\w-]{60,}", "dp\\.(?:pt|st|ct|sa)\\.[A-Za-z0-9]{40,}"],
  ...["glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}", "glc_eyJ[\\w+/=-]{30,}", "NRAK-[A-Z0-9]{27}", "sntry[su]_[\\w+/=-]{30,}"],
  ...[
    "phx_[A-Za-z0-9]{40,}",
    "nfp_[A-Za-z0-9]{36}",
    "vercel_blob_rw_\\w{20,}",
    "HRKU-[\\w-]{30,}",
    "sk\\.eyJ[\\w-]{20,}\\.[\\w-]{10,}",
  ],
  // age, 1Password, JSON web tokens
  ...["AGE-SECRET-KEY-1[A-Z0-9]{50,}", "ops_eyJ[\\w=-]{100,}", "eyJ[\\w-]{8,}\\.[\\w-]{8,}\\.[\\w-]*"],
];

/** Secrets that are recognised by their form, whatever their name. */
export const secretPatterns: readonly RegExp[] = [
  // Private keys, including PGP: the header, and as much of the body as there is.
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\+[rn])*(?:[A-Za-z-]{3,30}: [^\r\n\\"']{0,200}(?:\s|\\+[rn])+){0,10}(?:[A-Za-z0-9+/=\s]|\\+(?=[rn])){0,20000}(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/g,
  new RegExp(`(?<![A-Za-z0-9])(?:${keyForms.join("|")})`, "g"),
  // Cookies, to the end of the line or of the quoted header.
  /(?<=(?<quote>\\*["'])(?:set-)?cookie:\s?)(?:(?!\k<quote>)[^\r\n]){1,8000}/gi,
  /(?<=(?<!["'])\b(?:set-)?cookie:\s?)(?:[^\r\n"\\]|(?<==)"[^"\r\n;,]{0,400}"(?=;|\s|$)){1,8000}/gi,
  // Credentials after the name of a scheme, unless they read like a word: "basic understanding".
  /(?<=\b(?:[Bb]earer|[Bb]asic|[Tt]oken|BEARER|BASIC|TOKEN)\s{1,4})(?=[A-Za-z._~+/=-]{0,60}\d|[A-Za-z]{1,60}(?<=[a-z])[A-Z]|\S{32})[\w.~+/=-]{8,}/g,
  // Passwords in URLs, up to the last "@", unless they look like the port of a website.
  /(?<=\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'<>[]{0,200}:)(?<!\b(?:http|ws)s?:\/\/[^\s:/@"'<>]{0,200}:(?=\d{1,5}[/?#]))[^\s"'<>]{1,500}(?=@)/gi,
  // Passwords given to curl.
  /(?<=\bcurl\b[^\r\n]{0,300}\s(?:-u|--user)[ =]["']?[^\s:"']{1,100}:)[^\s"']{1,200}/g,
  // Signatures in URLs.
  /(?<=[?&](?:sig|signature|x-amz-signature|x-goog-signature)=)[^&\s"'<>\\]{16,}/gi,
];
