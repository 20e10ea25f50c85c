"""The problem: `cast` says who is there, arms and mediators with policies and costs, and what may be known of a policy;
`problem` adds means and a family.
"""
